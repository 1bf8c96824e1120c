package lunar.scsi;

/**
 * A descriptor of sense data that {@link Sense} has no field for (SPC-5 section 4.5.2), such as those that device types
 * define.
 *
 * <pre>
 * 0 descriptor type   1 additional length   2 content
 * </pre>
 *
 * @param type DESCRIPTOR TYPE, none of those that {@link Sense} decodes itself
 * @param content the bytes after ADDITIONAL LENGTH, at most {@link #MAX_CONTENT}
 */
public record SenseDescriptor(int type, Bytes content) {
    /** Bytes of type and length. */
    public static final int HEADER_LENGTH = 2;
    /** Most bytes of content; all descriptors together have at most two more. */
    public static final int MAX_CONTENT = SenseFormat.MAX_ADDITIONAL_LENGTH - HEADER_LENGTH;

    public SenseDescriptor {
        if (type < 0 || type > 0xff || SenseFormat.decodesItself(type)) {
            throw new IllegalArgumentException("sense data descriptor type " + type);
        }
        if (content.length() > MAX_CONTENT) {
            throw new IllegalArgumentException(
                    content.length() + " bytes in a sense data descriptor");
        }
    }

    /** Bytes of the descriptor with type and length. */
    public int length() {
        return HEADER_LENGTH + content.length();
    }

    /** Names the type alone: the content may have values that do not belong into a log. */
    @Override
    public String toString() { return String.format("descriptor %02Xh", type); }
}
