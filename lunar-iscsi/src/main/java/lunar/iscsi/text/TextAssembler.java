package lunar.iscsi.text;

import java.io.ByteArrayOutputStream;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import lunar.iscsi.ProtocolException;

/**
 * Joins the data segments of texts that the C bit splits across several PDUs, and enforces the limits of one
 * negotiation (RFC 7143 section 6.2).
 */
public final class TextAssembler {
    private final int maxBytes;
    private final int maxKeys;
    private final ByteArrayOutputStream part = new ByteArrayOutputStream();
    private final Set<String> seen = new HashSet<>();
    private long byteCount;
    private int keyCount;
    private boolean unfinished;

    /**
     * @param maxBytes most bytes over all texts that are accepted
     * @param maxKeys most pairs over all texts that are accepted
     */
    public TextAssembler(int maxBytes, int maxKeys) {
        this.maxBytes = maxBytes;
        this.maxKeys = maxKeys;
    }

    /**
     * Takes a data segment.
     *
     * @param more the C bit
     * @return the keys, when the text is complete
     */
    public Optional<TextKeys> add(MemorySegment text, boolean more) throws ProtocolException {
        byteCount += text.byteSize();
        if (byteCount > maxBytes) {
            throw new ProtocolException("more than " + maxBytes + " bytes of text");
        }
        part.writeBytes(text.toArray(ValueLayout.JAVA_BYTE));
        unfinished = more;
        if (more) {
            return Optional.empty();
        }
        var keys = TextKeys.parse(MemorySegment.ofArray(part.toByteArray()), maxKeys - keyCount);
        part.reset();
        keyCount += keys.pairs().size();
        return Optional.of(keys);
    }

    /** Whether the last segment said that more follows. */
    boolean isUnfinished() {
        return unfinished;
    }

    /** Refuses a key that the peer has sent before in this negotiation (section 6.2: no renegotiation). */
    public void refuseRepeated(TextKeys keys) throws ProtocolException {
        for (var pair : keys.pairs()) {
            // TargetName and TargetAddress are the records of a SendTargets response (appendix C).
            boolean repeatable = pair.key().equals(Key.TARGET_ADDRESS.text());
            if (!seen.add(pair.key()) && !repeatable) {
                throw new ProtocolException(
                        pair.key() + " was sent before (RFC 7143 section 6.2)");
            }
        }
    }
}
