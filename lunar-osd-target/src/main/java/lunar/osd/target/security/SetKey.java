package lunar.osd.target.security;

import java.lang.foreign.MemorySegment;
import java.util.Optional;
import lunar.osd.security.IntegrityCheck;
import lunar.osd.security.SecretKey;
import lunar.osd.wire.command.SetKeyCommand;
import lunar.scsi.Bytes;

/**
 * A key that SET KEY has set, as it is stored. It is valid as long as the key above it is the one that it was derived
 * from: setting a key invalidates all below.
 *
 * <pre>
 * 0 key (40)   40 identifier (7)   47 fingerprint of the key above (20)
 * </pre>
 *
 * @param key the key
 * @param id identifier, 7 bytes
 * @param above fingerprint of the key above
 */
record SetKey(SecretKey key, Bytes id, Bytes above) {
    private static final int ID_AT = SecretKey.LENGTH;
    private static final int ABOVE_AT = ID_AT + SetKeyCommand.KEY_ID_LENGTH;
    private static final int LENGTH = ABOVE_AT + IntegrityCheck.LENGTH;
    private static final byte[] CONTEXT = {'L', 'u', 'n', 'a', 'r'};

    /** Returns what identifies a key without telling it. */
    static Bytes fingerprint(SecretKey key) {
        return IntegrityCheck.of(key.generation(), MemorySegment.ofArray(CONTEXT));
    }

    /** Reads a stored value; empty for none, and for a key that was derived from another one than this. */
    static Optional<SetKey> decode(Bytes value, SecretKey above) {
        if (value.length() != LENGTH) {
            return Optional.empty();
        }
        MemorySegment bytes = value.segment();
        var set = new SetKey(SecretKey.of(Bytes.of(bytes.asSlice(0, ID_AT))),
                Bytes.of(bytes.asSlice(ID_AT, SetKeyCommand.KEY_ID_LENGTH)),
                Bytes.of(bytes.asSlice(ABOVE_AT)));
        return IntegrityCheck.matches(fingerprint(above), set.above)
                ? Optional.of(set)
                : Optional.empty();
    }

    /** Returns the value to store. */
    Bytes encode() {
        var bytes = MemorySegment.ofArray(new byte[LENGTH]);
        bytes.copyFrom(key.bytes().segment());
        bytes.asSlice(ID_AT).copyFrom(id.segment());
        bytes.asSlice(ABOVE_AT).copyFrom(above.segment());
        return Bytes.of(bytes);
    }

    /** Leaves out the key. */
    @Override
    public String toString() { return "SetKey[id=" + id + ']'; }
}
