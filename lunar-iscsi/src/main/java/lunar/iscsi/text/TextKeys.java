package lunar.iscsi.text;

import java.io.ByteArrayOutputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import lunar.iscsi.ProtocolException;

/**
 * The key=value pairs of a text, in order (RFC 7143 section 6.1). A text is the content of one data segment, or of
 * several joined by the C bit: {@link TextAssembler} joins them and {@link #split} splits them.
 *
 * @param pairs the pairs
 */
public record TextKeys(List<KeyValue> pairs) {
    /** No keys. */
    public static final TextKeys NONE = new TextKeys(List.of());

    public TextKeys {
        pairs = List.copyOf(pairs);
    }

    /** Some pairs. */
    public static TextKeys of(KeyValue... pairs) {
        return new TextKeys(List.of(pairs));
    }

    /**
     * Reads a complete text.
     *
     * @param maxKeys most pairs that are accepted
     */
    public static TextKeys parse(MemorySegment text, int maxKeys) throws ProtocolException {
        byte[] bytes = text.toArray(ValueLayout.JAVA_BYTE);
        var pairs = new ArrayList<KeyValue>();
        int start = 0;
        for (int at = 0; at < bytes.length; at++) {
            if (bytes[at] != 0) {
                continue;
            }
            if (at > start) { // some peers count the padding or end with two zeros: an empty pair means nothing
                if (pairs.size() == maxKeys) {
                    throw new ProtocolException("more than " + maxKeys + " keys in a text");
                }
                pairs.add(pair(bytes, start, at));
            }
            start = at + 1;
        }
        if (start < bytes.length) {
            throw new ProtocolException(
                    "the last key=value of a text is not terminated by a zero byte (RFC 7143 section 6.1)");
        }
        return new TextKeys(pairs);
    }

    /** The first pair of a key. */
    public Optional<KeyValue> first(String key) {
        return pairs.stream().filter(pair -> pair.key().equals(key)).findFirst();
    }

    /** The text: every pair ended by a zero byte. */
    public MemorySegment write() {
        var text = new ByteArrayOutputStream();
        for (var pair : pairs) {
            text.writeBytes((pair.key() + "=" + pair.value()).getBytes(StandardCharsets.UTF_8));
            text.write(0);
        }
        return MemorySegment.ofArray(text.toByteArray());
    }

    /** The text in pieces of at most so many bytes; one empty piece for no keys. */
    public List<MemorySegment> split(int maxBytes) {
        var text = write();
        var pieces = new ArrayList<MemorySegment>();
        long at = 0;
        do {
            long length = Math.min(maxBytes, text.byteSize() - at);
            pieces.add(text.asSlice(at, length));
            at += length;
        } while (at < text.byteSize());
        return pieces;
    }

    private static KeyValue pair(byte[] bytes, int start, int end) throws ProtocolException {
        int equals = start;
        while (equals < end && isKeyCharacter(bytes[equals])) {
            equals++;
        }
        if (equals == end || bytes[equals] != '=' || equals == start
                || equals - start > KeyValue.MAX_KEY_LENGTH) {
            var seen = new String(bytes, start, end - start, StandardCharsets.ISO_8859_1);
            throw new ProtocolException(
                    "no key=value: " + PeerText.printable(seen) + " (RFC 7143 section 6.1)");
        }
        var key = new String(bytes, start, equals - start, StandardCharsets.US_ASCII);
        int max = Key.of(key).map(Key::maxValueBytes).orElse(KeyValue.MAX_VALUE_BYTES);
        int length = end - equals - 1;
        if (length > max) {
            throw new ProtocolException(
                    "the value of " + key + " has " + length + " bytes, more than "
                            + max + " (RFC 7143 section 6.1)");
        }
        try {
            var value = StandardCharsets.UTF_8.newDecoder()
                    .decode(ByteBuffer.wrap(bytes, equals + 1, length));
            return new KeyValue(key, value.toString());
        } catch (CharacterCodingException _) {
            throw new ProtocolException(
                    "the value of " + key + " is not UTF-8 (RFC 7143 section 6.1)");
        }
    }

    /** The characters of section 6.1's standard-label, and the # of X# keys (section 13.26). */
    private static boolean isKeyCharacter(byte c) {
        return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')
                || ".-+@_#".indexOf(c) >= 0;
    }
}
