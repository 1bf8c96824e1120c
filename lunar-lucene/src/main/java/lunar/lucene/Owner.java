package lunar.lucene;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Optional;
import java.util.UUID;

/**
 * Record of the process that has a directory open for writing. Each opening overwrites the previous record, which the
 * previous owner detects at its next commit; that commit then fails.
 *
 * @param opening unique ID of the opening
 * @param isOpen false after an orderly close
 * @param sinceMs time of the opening, milliseconds since 1970
 * @param name host and process, for display; at most 255 bytes
 */
record Owner(UUID opening, boolean isOpen, long sinceMs, String name) {
    private static final long MAGIC = 0x4C554E41524F574EL; // "LUNAROWN"
    private static final int MAX_NAME_BYTES = 255;

    /** The record of one image: a unit. */
    byte[] encode(UUID image) {
        byte[] text = name.getBytes(StandardCharsets.UTF_8);
        byte[] cut = Arrays.copyOf(text, Math.min(text.length, MAX_NAME_BYTES));
        ByteBuffer unit = ByteBuffer.allocate(Layout.UNIT_BYTES);
        unit.putLong(MAGIC);
        unit.putLong(image.getMostSignificantBits()).putLong(image.getLeastSignificantBits());
        unit.putLong(opening.getMostSignificantBits()).putLong(opening.getLeastSignificantBits());
        unit.put((byte) (isOpen ? 1 : 0)).putLong(sinceMs);
        unit.putShort((short) cut.length).put(cut);
        return Layout.seal(unit.array());
    }

    /** Decodes a record; empty if there is none of this image, because it was just formatted or the record is torn. */
    static Optional<Owner> decode(byte[] bytes, UUID image) {
        ByteBuffer unit = ByteBuffer.wrap(bytes);
        if (unit.getLong() != MAGIC || !Layout.isSealed(bytes)
                || !new UUID(unit.getLong(), unit.getLong()).equals(image)) {
            return Optional.empty();
        }
        var opening = new UUID(unit.getLong(), unit.getLong());
        boolean isOpen = unit.get() != 0;
        long sinceMs = unit.getLong();
        byte[] text = new byte[Math.min(Short.toUnsignedInt(unit.getShort()), MAX_NAME_BYTES)];
        unit.get(text);
        return Optional.of(new Owner(opening, isOpen, sinceMs,
                new String(text, StandardCharsets.UTF_8)));
    }
}
