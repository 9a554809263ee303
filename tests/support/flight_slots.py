"""Slots by openings that are not encoded yet."""

from heterodyne.books.encoding import encode_opening
from heterodyne.books.flight_slots import UNPRICED, FlightSlot, FlightSlots, FlightTerms
from heterodyne.domain.usage import UsageOpening


def open_slot(slots: FlightSlots, opening: UsageOpening, terms: FlightTerms = UNPRICED) -> FlightSlot:
    return slots.open_encoded(encode_opening(opening), terms)


def place_slot(slot: FlightSlot, opening: UsageOpening, terms: FlightTerms = UNPRICED) -> None:
    slot.place_encoded(encode_opening(opening), terms)
