"""The coast the story plays on: harbours of our own invention, and the tide's constituents.

Speeds are in degrees per hour, from the harmonic constituents every tide table is made of.
"""

from __future__ import annotations

from typing import NamedTuple

from .chance import Chance


class Harbour(NamedTuple):
    """A place with a tide board. `high` is mean high water in metres."""

    name: str
    zone: str
    lat: float
    lon: float
    high: float

    @property
    def slug(self) -> str:
        return self.name.lower().replace(" ", "-")


_ZONES = {
    "Europe/London": (
        "Gull Haven, Penmor, Trevanna Quay, Saltmarsh, Wick Sound, Lowen Cove, Carrick Bar, St Orran, "
        "Mussel Strand, Blackness Pier, Herring Gate, Tarn Mouth, Oyster Hythe, Samphire Creek, Kelp Ness, "
        "Fennel Point, Rookhope Dock, Bellrock Roads, Limpet Hard, Cockle Row, Barnacle Steps, Mudlark Stairs"
    ),
    "Europe/Dublin": "Anner Bay, Dunmarra, Inishcarrow, Kilfinnan, Roscallan, Ballymarra Slip",
    "Europe/Jersey": "Port Ormer, La Roquette",
    "Atlantic/Faroe": "Tindholm, Vestervag, Sundsker",
    "Atlantic/Reykjavik": "Svartavik, Kria Bank, Lundahofn",
    "Europe/Oslo": "Skarvik, Nordeskjer, Svanevag, Torskholm",
}


def _survey() -> tuple[Harbour, ...]:
    chance = Chance("survey")
    found = []
    for zone, names in _ZONES.items():
        north = 63.0 if zone.startswith("Atlantic") else 58.4 if zone.endswith("Oslo") else 50.6
        for name in names.split(", "):
            lat, lon = north + chance.between(0, 1.4), chance.between(-6.2, -1.1)
            found.append(
                Harbour(name, zone, round(lat, 4), round(lon, 4), round(chance.between(2.1, 6.4), 2))
            )
    return tuple(found)


HARBOURS = _survey()

CONSTITUENTS: tuple[tuple[str, float, str], ...] = (
    ("M2", 28.9841042, "principal lunar, twice a day"),
    ("S2", 30.0000000, "principal solar, twice a day"),
    ("N2", 28.4397295, "larger elliptic of the moon"),
    ("K2", 30.0821373, "moon and sun by declination"),
    ("NU2", 28.5125831, "larger evection of the moon"),
    ("MU2", 27.9682084, "variation of the moon"),
    ("L2", 29.5284789, "smaller elliptic of the moon"),
    ("T2", 29.9589333, "larger elliptic of the sun"),
    ("R2", 30.0410667, "smaller elliptic of the sun"),
    ("2N2", 27.8953548, "elliptic of the second order"),
    ("LAM2", 29.4556253, "smaller evection of the moon"),
    ("K1", 15.0410686, "moon and sun by declination, daily"),
    ("O1", 13.9430356, "principal lunar, daily"),
    ("P1", 14.9589314, "principal solar, daily"),
    ("Q1", 13.3986609, "larger elliptic of the moon, daily"),
    ("J1", 15.5854433, "smaller elliptic of the moon, daily"),
    ("M1", 14.4966939, "smaller elliptic, daily"),
    ("OO1", 16.1391017, "lunar of the second order, daily"),
    ("RHO", 13.4715145, "larger evection, daily"),
    ("S1", 15.0000000, "solar, daily"),
    ("M4", 57.9682084, "shallow water, overtide of M2"),
    ("M6", 86.9523127, "shallow water, second overtide"),
    ("M8", 115.9364169, "shallow water, third overtide"),
    ("S4", 60.0000000, "shallow water, overtide of S2"),
    ("MN4", 57.4238337, "shallow water, M2 with N2"),
    ("MS4", 58.9841042, "shallow water, M2 with S2"),
    ("MK3", 44.0251729, "shallow water, M2 with K1"),
    ("2MK3", 42.9271398, "shallow water, M2 twice with K1"),
    ("2SM2", 31.0158958, "shallow water, S2 twice with M2"),
    ("M3", 43.4761563, "lunar, three times a day"),
    ("MF", 1.0980331, "lunar, every fortnight"),
    ("MSF", 1.0158958, "moon with sun, every fortnight"),
    ("MM", 0.5443747, "lunar, every month"),
    ("SSA", 0.0821373, "solar, every half year"),
    ("SA", 0.0410686, "solar, every year"),
)
