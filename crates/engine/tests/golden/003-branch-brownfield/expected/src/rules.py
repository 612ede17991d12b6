"""Who may book the hall, and when."""

OPEN_FROM, OPEN_UNTIL = 8, 22
CLUB_HOURS_PER_WEEK = 6


def is_free(bookings, day, start, end):
    """True when no booking of that day overlaps."""
    return all(b.day != day or b.end <= start or b.start >= end for b in bookings)


def may_book(club, bookings, day, start, end):
    """True when the hall is open and free, and the club has hours left this week."""
    if start < OPEN_FROM or end > OPEN_UNTIL or start >= end:
        return False
    used = sum(b.end - b.start for b in bookings if b.club == club and b.day.isocalendar()[1] == day.isocalendar()[1])
    return used + end - start <= CLUB_HOURS_PER_WEEK and is_free(bookings, day, start, end)
