"""Writes the bookings of a month for the accounting program."""

HEADER = "club;date;hours;fee"
FEE_PER_HOUR = 12


def export(bookings, month):
    """One line a booking, sorted by club and date; the accounting program depends on this form."""
    lines = [HEADER]
    for b in sorted(bookings, key=lambda b: (b.club, b.day, b.start)):
        if b.day.month == month:
            hours = b.end - b.start
            lines.append(f"{b.club};{b.day.isoformat()};{hours};{hours * FEE_PER_HOUR}")
    return "\n".join(lines) + "\n"
