//! Recovery of torn and damaged journals.

use super::*;

/// Checks the number of events and the notes that recovery gives for these bytes.
#[track_caller]
fn check_recovered(bytes: &[u8], events: u64, notes: &[&str]) {
    let fixture = JournalFixture::with(bytes);
    let (mut journal, recovered) = fixture.open();
    assert_eq!(recovered.events, inputs(events));
    assert_eq!(recovered.notes, notes);
    // The pure function and a reader without the lock give the same.
    assert_eq!(recover(bytes).events, recovered.events);
    assert_eq!(Journal::read(&fixture.folder(Disk::real())).unwrap().events, recovered.events);
    // The next record is appended after them, and a second opening finds nothing to repair.
    journal.append(&[input(events + 1)]).unwrap();
    drop(journal);
    let (_, again) = fixture.open();
    assert_eq!(again, Recovered { events: inputs(events + 1), notes: Vec::new() });
}

#[test]
fn a_whole_journal_is_read_as_it_is() {
    check_recovered(&lines(&inputs(3)), 3, &[]);
    check_recovered(b"", 0, &[]);
}

#[test]
fn a_mark_at_the_start_and_other_line_ends_do_no_harm() {
    let mut bytes = "\u{feff}".as_bytes().to_vec();
    bytes.extend(lines(&inputs(2)));
    check_recovered(&bytes, 2, &[]);
    let text = String::from_utf8(lines(&inputs(2))).unwrap();
    check_recovered(text.replace("}\n", "}\r\n").as_bytes(), 2, &[]);
    check_recovered(text.replace("}\n", "}\n\n").as_bytes(), 2, &[]);
}

#[test]
fn a_record_that_is_torn_at_any_byte_is_cut_off() {
    let whole = lines(&inputs(3));
    let start = lines(&inputs(2)).len();
    for end in start + 1..whole.len() - 1 {
        let note = format!(
            "the last record of the journal was torn and was cut off ({} bytes)",
            end - start
        );
        check_recovered(&whole[..end], 2, &[&note]);
    }
    // Only the line end is missing, so nothing is lost.
    check_recovered(&whole[..whole.len() - 1], 3, &[]);
    check_recovered(&whole[..start], 2, &[]);
}

#[test]
fn garbage_behind_the_last_record_is_cut_off() {
    for garbage in [
        &[0_u8; 700][..],
        b"\0\0\0\n",
        b"garbage",
        b"garbage\nmore\n",
        b"{\"seq\":3",
        b"{}\n",
        b"[1,2]\n",
        b"\xff\xfe\n\n  \n",
        b"   ",
    ] {
        let mut bytes = lines(&inputs(2));
        bytes.extend_from_slice(garbage);
        let note = format!(
            "the last record of the journal was torn and was cut off ({} bytes)",
            garbage.len()
        );
        check_recovered(&bytes, 2, &[&note]);
    }
}

#[test]
fn a_tail_that_stands_there_twice_is_ignored() {
    let mut bytes = lines(&inputs(3));
    bytes.extend(lines(&inputs(3)[2..]));
    check_recovered(&bytes, 3, &["one record of the journal stood there twice and was ignored"]);
    let mut bytes = lines(&inputs(3));
    bytes.extend(lines(&inputs(3)[1..]));
    check_recovered(&bytes, 3, &["2 records of the journal stood there twice and were ignored"]);
    // More may follow, and may be torn.
    bytes.extend_from_slice(b"{\"seq\":");
    check_recovered(
        &bytes,
        3,
        &[
            "2 records of the journal stood there twice and were ignored",
            &format!(
                "the last record of the journal was torn and was cut off ({} bytes)",
                bytes.len() - lines(&inputs(3)).len()
            ),
        ],
    );
}

#[track_caller]
fn check_damaged(bytes: &[u8], events: u64) {
    let good = lines(&inputs(events)).len();
    let fixture = JournalFixture::with(bytes);
    let (mut journal, recovered) = fixture.open();
    assert_eq!(recovered.events, inputs(events));
    let damaged = format!("{JOURNAL}.damaged-1");
    let note = format!(
        "the journal is damaged behind record {events}; what follows ({} bytes) was moved to `{damaged}`",
        bytes.len() - good
    );
    assert_eq!(recovered.notes, [note]);
    let kept = fs::read(fixture.scratch.path().join("logs").join(&damaged)).unwrap();
    assert_eq!(kept, &bytes[good..]);
    assert_eq!(fixture.names(), [JOURNAL, &damaged]);
    journal.append(&[input(events + 1)]).unwrap();
    drop(journal);
    // Damaged once more: the second copy gets another name.
    let mut bytes = fixture.bytes();
    bytes.extend(lines(&[input(99)]));
    fs::write(fixture.path(), &bytes).unwrap();
    let (_, again) = fixture.open();
    assert_eq!(again.events, inputs(events + 1));
    assert_eq!(fixture.names(), [JOURNAL, &damaged, &format!("{JOURNAL}.damaged-2")]);
}

#[test]
fn what_follows_on_damage_is_moved_aside() {
    let mut bytes = lines(&inputs(2));
    bytes.extend_from_slice(b"garbage\n");
    bytes.extend(lines(&[input(3), input(4)]));
    check_damaged(&bytes, 2);
    // A number is missing.
    check_damaged(&lines(&[input(1), input(2), input(4)]), 2);
    check_damaged(&lines(&[input(2)]), 0);
    check_damaged(&lines(&[input(1), input(0)]), 1);
    // Zeros in the middle, as a power cut leaves them.
    let mut bytes = lines(&inputs(4));
    let (from, to) = (lines(&inputs(1)).len() + 10, lines(&inputs(2)).len() - 5);
    bytes[from..to].fill(0);
    check_damaged(&bytes, 1);
    // A record of a later version is not torn, so it is not discarded.
    let mut bytes = lines(&inputs(1));
    bytes.extend_from_slice(b"{\"seq\":2,\"time\":\"\",\"type\":\"run.dreamt\"}\n");
    check_damaged(&bytes, 1);
}

#[test]
fn a_line_of_50_megabytes_costs_no_memory_and_no_records() {
    let mut bytes = lines(&inputs(2));
    bytes.resize(bytes.len() + 50_000_000, b'x');
    check_recovered(
        &bytes,
        2,
        &["the last record of the journal was torn and was cut off (50000000 bytes)"],
    );
    bytes.push(b'\n');
    bytes.extend(lines(&[input(3)]));
    check_damaged(&bytes, 2);
    // Too long, although it has the form of a record.
    let mut bytes = lines(&inputs(2));
    let long = spoken(3, &"x".repeat(MAX_RECORD));
    bytes.extend(lines(&[long]));
    assert!(matches!(recover(&bytes).rest, TrailingBytes::Torn { .. }));
    assert_eq!(recover(&bytes).events.len(), 2);
}
