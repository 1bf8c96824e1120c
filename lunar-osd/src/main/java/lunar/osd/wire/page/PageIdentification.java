package lunar.osd.wire.page;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import lunar.osd.field.Fields;
import lunar.scsi.Bytes;
import lunar.scsi.MalformedDataException;

/**
 * Identifies an attributes page: number 0 of the page, and its entry in the directory page, where the page number is
 * the attribute number.
 *
 * <pre>
 * 0 vendor identification (8), padded with blanks   8 page name (32), ends with a zero byte
 * </pre>
 *
 * @param vendor at most 8 printable ASCII characters; {@link #STANDARD_VENDOR} for standard pages
 * @param name at most 31 printable ASCII characters
 */
public record PageIdentification(String vendor, String name) {
    /** Vendor of standard pages. */
    public static final String STANDARD_VENDOR = "INCITS";
    /** Bytes of the attribute. */
    public static final int LENGTH = 40;

    private static final int VENDOR_LENGTH = 8;
    private static final int NAME_LENGTH = LENGTH - VENDOR_LENGTH;

    public PageIdentification {
        check(vendor, VENDOR_LENGTH);
        check(name, NAME_LENGTH - 1);
        if (vendor.endsWith(" ")) {
            throw new IllegalArgumentException("blanks at the end of '" + vendor + "'");
        }
    }

    private static void check(String text, int maxLength) {
        if (text.length() > maxLength || !text.chars().allMatch(PageIdentification::isPrintable)) {
            throw new IllegalArgumentException(
                    "not at most " + maxLength + " printable characters: '" + text + "'");
        }
    }

    private static boolean isPrintable(int c) { return c >= 0x20 && c < 0x7f; }

    /**
     * Reads the value of the attribute; bytes that are not printable become question marks.
     *
     * @throws MalformedDataException for another length than 40 bytes
     */
    public static PageIdentification decode(Bytes value) throws MalformedDataException {
        if (value.length() != LENGTH) {
            throw new MalformedDataException(
                    "page identification of " + value.length() + " bytes");
        }
        return new PageIdentification(
                text(value, 0, VENDOR_LENGTH).stripTrailing(),
                text(value, VENDOR_LENGTH, NAME_LENGTH - 1));
    }

    private static String text(Bytes value, int at, int length) {
        var text = new StringBuilder();
        for (int i = at; i < at + length && value.at(i) != 0; i++) {
            text.append(isPrintable(value.at(i)) ? (char) value.at(i) : '?');
        }
        return text.toString();
    }

    /** The value of the attribute. */
    public Bytes value() {
        byte[] array = new byte[LENGTH];
        var bytes = MemorySegment.ofArray(array);
        bytes.asSlice(0, VENDOR_LENGTH).fill((byte) ' ');
        Fields.bytes(bytes, 0, Bytes.of(vendor.getBytes(StandardCharsets.US_ASCII)));
        Fields.bytes(bytes, VENDOR_LENGTH, Bytes.of(name.getBytes(StandardCharsets.US_ASCII)));
        return Bytes.of(array);
    }
}
