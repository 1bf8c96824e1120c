package lunar.isns;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * Encodes and decodes attributes: tag and length of 4 bytes each, then the value, padded to a multiple of 4 bytes (RFC
 * 4171 sections 5.3 and 5.3.1).
 */
final class AttributeCodec {
    private static final int HEADER_BYTES = 8;
    private static final int ADDRESS_BYTES = 16;
    private static final int MAPPED_PREFIX_BYTES = 10;

    private AttributeCodec() {}

    /** Bytes that these attributes take. */
    static int bytes(List<Attribute> attributes) {
        return attributes.stream().mapToInt(one -> HEADER_BYTES + valueBytes(one)).sum();
    }

    private static int valueBytes(Attribute attribute) {
        return switch (attribute) {
            case Attribute.Empty _ -> 0;
            case Attribute.Numeric _ -> Integer.BYTES;
            case Attribute.Time _ -> Long.BYTES;
            case Attribute.Address _ -> ADDRESS_BYTES;
            case Attribute.Text text -> // a NUL at least
                Math.ceilDiv(utf8(text).length + 1, Integer.BYTES) * Integer.BYTES;
            case Attribute.Opaque opaque -> opaque.value().remaining();
        };
    }

    private static byte[] utf8(Attribute.Text text) {
        return text.value().getBytes(StandardCharsets.UTF_8);
    }

    static void encode(List<Attribute> attributes, ByteBuffer into) {
        for (Attribute attribute : attributes) {
            int length = valueBytes(attribute);
            into.putInt(attribute.tag()).putInt(length);
            int end = into.position() + length;
            switch (attribute) {
                case Attribute.Empty _ -> {
                }
                case Attribute.Numeric number -> into.putInt(number.value());
                case Attribute.Time time -> into.putLong(time.seconds());
                case Attribute.Address address -> encode(address.value(), into);
                case Attribute.Text text -> into.put(utf8(text));
                case Attribute.Opaque opaque -> into.put(opaque.value().duplicate());
            }
            while (into.position() < end) {
                into.put((byte) 0);
            }
        }
    }

    private static void encode(InetAddress address, ByteBuffer into) {
        if (address instanceof Inet4Address) {
            into.put(new byte[MAPPED_PREFIX_BYTES]).putShort((short) 0xffff);
        }
        into.put(address.getAddress());
    }

    /** Decodes all that remains. */
    static List<Attribute> decode(ByteBuffer bytes) throws IsnsException {
        var attributes = new ArrayList<Attribute>();
        while (bytes.hasRemaining()) {
            if (bytes.remaining() < HEADER_BYTES) {
                throw malformed("truncated attribute");
            }
            int tag = bytes.getInt();
            int length = bytes.getInt();
            if (length < 0 || length > bytes.remaining()) {
                throw malformed("attribute " + Integer.toUnsignedString(tag) + " declares "
                        + Integer.toUnsignedString(length) + " bytes, but the message has "
                        + bytes.remaining());
            }
            if (length % Integer.BYTES != 0) {
                throw malformed("attribute " + Integer.toUnsignedString(tag) + " has " + length
                        + " bytes, which is not a multiple of 4 (section 5.3.1)");
            }
            attributes.add(length == 0
                    ? new Attribute.Empty(tag)
                    : decode(tag, bytes.slice(bytes.position(), length)));
            bytes.position(bytes.position() + length);
        }
        return attributes;
    }

    private static Attribute decode(int tag, ByteBuffer value) throws IsnsException {
        return switch (Tags.form(tag)) {
            case NUMBER -> {
                requireLength(tag, value, Integer.BYTES);
                yield new Attribute.Numeric(tag, value.getInt());
            }
            case TIME -> {
                requireLength(tag, value, Long.BYTES);
                yield new Attribute.Time(tag, value.getLong());
            }
            case ADDRESS -> {
                requireLength(tag, value, ADDRESS_BYTES);
                yield new Attribute.Address(tag, address(value));
            }
            case TEXT -> new Attribute.Text(tag, text(tag, value));
            case OPAQUE -> new Attribute.Opaque(tag, copy(value));
        };
    }

    private static void requireLength(int tag, ByteBuffer value, int length) throws IsnsException {
        if (value.remaining() != length) {
            throw malformed("attribute " + tag + " has " + value.remaining() + " bytes, not "
                    + length + " (section 6.1)");
        }
    }

    private static InetAddress address(ByteBuffer value) throws IsnsException {
        byte[] bytes = new byte[ADDRESS_BYTES];
        value.get(bytes);
        try {
            return InetAddress.getByAddress(bytes); // an IPv4 one where it is mapped
        } catch (UnknownHostException e) {
            throw new IsnsException("invalid address", e);
        }
    }

    private static String text(int tag, ByteBuffer value) throws IsnsException {
        if (value.remaining() > Tags.maxTextBytes(tag)) {
            throw malformed("the text of attribute " + tag + " has " + value.remaining()
                    + " bytes, more than " + Tags.maxTextBytes(tag) + " (section 6.1)");
        }
        int length = 0;
        while (length < value.remaining() && value.get(length) != 0) {
            length++;
        }
        if (length == value.remaining()) {
            throw malformed("the text of attribute " + tag + " is not terminated (section 6.1)");
        }
        try {
            return StandardCharsets.UTF_8.newDecoder().decode(value.slice(0, length)).toString();
        } catch (CharacterCodingException e) {
            throw new IsnsException("the text of attribute " + tag + " is not UTF-8", e);
        }
    }

    private static ByteBuffer copy(ByteBuffer value) {
        byte[] bytes = new byte[value.remaining()];
        value.get(bytes);
        return ByteBuffer.wrap(bytes);
    }

    private static IsnsException malformed(String what) { return new IsnsException(what); }
}
