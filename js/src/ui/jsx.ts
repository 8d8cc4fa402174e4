// What a JSX element is built to call: a child as an argument takes fewer bytes than one in a property.
export { createElement, Fragment } from "preact";
