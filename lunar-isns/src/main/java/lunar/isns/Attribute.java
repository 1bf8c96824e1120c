package lunar.isns;

import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** An attribute: a tag, a length and a value (RFC 4171 section 5.3). Immutable. */
sealed interface Attribute {
    /** Between the key of a message and its operating attributes (section 5.6.3). */
    Attribute DELIMITER = new Empty(Tags.DELIMITER);

    int tag();

    /** No value: the delimiter, an attribute that is asked for, or a portal group tag that is NULL. */
    record Empty(int tag) implements Attribute {}

    record Numeric(int tag, int value) implements Attribute {
        public Numeric {
            requireForm(tag, Tags.Form.NUMBER);
        }
    }

    record Time(int tag, long seconds) implements Attribute {
        public Time {
            requireForm(tag, Tags.Form.TIME);
        }
    }

    record Address(int tag, InetAddress value) implements Attribute {
        public Address {
            requireForm(tag, Tags.Form.ADDRESS);
        }
    }

    record Text(int tag, String value) implements Attribute {
        public Text {
            requireForm(tag, Tags.Form.TEXT);
            requireText(tag, value);
        }
    }

    /** A value that is not interpreted. */
    record Opaque(int tag, ByteBuffer value) implements Attribute {
        public Opaque {
            requireForm(tag, Tags.Form.OPAQUE);
            if (!value.hasRemaining() || value.remaining() % Integer.BYTES != 0) {
                throw new IllegalArgumentException("attribute " + tag + " of " + value.remaining()
                        + " bytes");
            }
            value = value.asReadOnlyBuffer();
        }
    }

    /** Throws where a text does not fit into an attribute. */
    static void requireText(int tag, String value) {
        if (value.indexOf('\0') >= 0
                || value.getBytes(StandardCharsets.UTF_8).length >= Tags.maxTextBytes(tag)) {
            throw new IllegalArgumentException("text of attribute " + tag
                    + " has a NUL or is longer than " + (Tags.maxTextBytes(tag) - 1) + " bytes");
        }
    }

    private static void requireForm(int tag, Tags.Form form) {
        if (Tags.form(tag) != form) {
            throw new IllegalArgumentException("attribute " + tag + " is not " + form);
        }
    }
}
