// The function that JSX elements compile to: a child as an argument takes fewer bytes than one in a property.
export { createElement, Fragment } from "preact";
