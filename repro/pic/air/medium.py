"""Dry air near sea level, in which electrons collide: how many atoms, molecules and electrons it has. SI units."""

from dataclasses import dataclass
from typing import Annotated

from scipy import constants

from repro.declared import Number, checked

from ..constants import SMALLEST


@dataclass(frozen=True)
class Element:
    """A chemical element of the air."""

    symbol: str
    #: Z
    number: int
    #: mass of a mole in kg
    molar_mass: float
    #: its share of the mass of dry air
    mass_share: float

    @property
    def per_mass(self) -> float:
        """Atoms in a kg of air."""
        return self.mass_share * constants.N_A / self.molar_mass


#: composition of dry air in NIST's ESTAR, without its 0.012 % of carbon
NITROGEN = Element("N", 7, 14.0067e-3, 0.755268)
OXYGEN = Element("O", 8, 15.9994e-3, 0.231781)
ARGON = Element("Ar", 18, 39.948e-3, 0.012827)
ELEMENTS = (NITROGEN, OXYGEN, ARGON)

#: Z/A in mol/g and mean excitation energy in eV of dry air in ESTAR
ELECTRONS_PER_GRAM, EXCITATION_ENERGY = 0.49919, 85.7

#: density of liquid air in kg/m3
DENSEST = 875.0

#: gas temperatures in K for which the rates of `electron_loss` are meant
COLDEST, HOTTEST = 100.0, 3000.0


@dataclass(frozen=True)
@checked
class Air:
    """Dry air of a density in kg/m3 (ESTAR's is that at 20 degrees and one atmosphere) and a temperature in K."""

    density: Annotated[float, Number(SMALLEST, DENSEST, "kg/m3")] = 1.20479
    temperature: Annotated[float, Number(COLDEST, HOTTEST, "K")] = 293.15

    def atoms(self, element: Element) -> float:
        """Atoms of an element in a cubic metre."""
        return self.density * element.per_mass

    @property
    def electrons(self) -> float:
        """Bound electrons in a cubic metre."""
        return self.density * 1e3 * ELECTRONS_PER_GRAM * constants.N_A

    @property
    def oxygen_molecules(self) -> float:
        """O2 in a cubic metre."""
        return self.atoms(OXYGEN) / 2

    @property
    def nitrogen_molecules(self) -> float:
        """N2 in a cubic metre."""
        return self.atoms(NITROGEN) / 2
