package lunar.osd.s3.bucket;

import java.util.Collections;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;

/** A multipart upload in progress. Guarded by itself where not said otherwise. */
public final class Upload {
    private final long id;
    private final UploadRecord record;
    private final NavigableMap<Integer, PartRecord> parts;
    /** Whether a completion was begun: the key may have the object already. */
    private boolean completing;
    private boolean ended;

    Upload(long id, UploadRecord record, NavigableMap<Integer, PartRecord> parts,
            boolean completing) {
        this.id = id;
        this.record = record;
        this.parts = new TreeMap<>(parts);
        this.completing = completing;
    }

    /** Returns the identifier as clients have it. Any thread may call this. */
    public String id() {
        return text(id);
    }

    static String text(long id) { return String.format("%016x", id); }

    static Optional<Long> parse(String text) {
        return text.matches("[0-9a-f]{16}")
                ? Optional.of(Long.parseUnsignedLong(text, 16))
                : Optional.empty();
    }

    /** Returns what it is. Any thread may call this. */
    public UploadRecord record() {
        return record;
    }

    long object() { return id; }

    /** Returns a copy of the parts by their numbers. */
    public synchronized NavigableMap<Integer, PartRecord> parts() {
        return Collections.unmodifiableNavigableMap(new TreeMap<>(parts));
    }

    /** Adds a part; returns the one that it replaces. */
    Optional<PartRecord> add(int number, PartRecord part) {
        return Optional.ofNullable(parts.put(number, part));
    }

    /** Puts back what a part has replaced; false if another one has replaced that part. */
    boolean takeBack(int number, PartRecord part, Optional<PartRecord> replaced) {
        boolean removed = parts.remove(number, part);
        if (removed && replaced.isPresent()) {
            parts.put(number, replaced.get());
        }
        return removed;
    }

    boolean isCompleting() { return completing; }

    void setCompleting() { completing = true; }

    boolean hasEnded() { return ended; }

    void end() { ended = true; }
}
