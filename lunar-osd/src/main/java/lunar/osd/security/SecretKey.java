package lunar.osd.security;

import java.security.MessageDigest;
import lunar.osd.wire.command.SetKeyCommand;
import lunar.scsi.Bytes;

/**
 * A secret key of the hierarchy: master, root, partition or working key. The authentication key computes credentials,
 * the generation key the keys below.
 *
 * <p>SET KEY makes a key of a seed and of the generation key above it: the authentication key is the integrity check
 * value of the seed with its least significant bit set to zero, the generation key that of the seed with this bit set
 * to one.
 *
 * @param authentication 20 secret bytes
 * @param generation 20 secret bytes
 */
public record SecretKey(Bytes authentication, Bytes generation) {
    /** Bytes of both keys. */
    public static final int LENGTH = 2 * IntegrityCheck.LENGTH;

    /** Checks the lengths. */
    public SecretKey {
        if (authentication.length() != IntegrityCheck.LENGTH
                || generation.length() != IntegrityCheck.LENGTH) {
            throw new IllegalArgumentException("a secret key has two halves of "
                    + IntegrityCheck.LENGTH + " bytes");
        }
    }

    /** Returns the key in 40 bytes: first the authentication key. */
    public static SecretKey of(Bytes both) {
        if (both.length() != LENGTH) {
            throw new IllegalArgumentException("a secret key has " + LENGTH + " bytes");
        }
        return new SecretKey(Bytes.of(both.segment().asSlice(0, IntegrityCheck.LENGTH)),
                Bytes.of(both.segment().asSlice(IntegrityCheck.LENGTH)));
    }

    /** Returns the key below this one that a seed of {@link SetKeyCommand#SEED_LENGTH} bytes makes. */
    public SecretKey derive(Bytes seed) {
        if (seed.length() != SetKeyCommand.SEED_LENGTH) {
            throw new IllegalArgumentException("a seed has " + SetKeyCommand.SEED_LENGTH
                    + " bytes, not " + seed.length());
        }
        int last = seed.length() - 1;
        return new SecretKey(
                IntegrityCheck.of(generation, seed.with(last, seed.at(last) & ~1).segment()),
                IntegrityCheck.of(generation, seed.with(last, seed.at(last) | 1).segment()));
    }

    /** Returns the key in 40 bytes. */
    public Bytes bytes() {
        byte[] both = new byte[LENGTH];
        System.arraycopy(authentication.toArray(), 0, both, 0, IntegrityCheck.LENGTH);
        System.arraycopy(generation.toArray(), 0, both, IntegrityCheck.LENGTH,
                IntegrityCheck.LENGTH);
        return Bytes.of(both);
    }

    /** Compares in a time that does not depend on the contents. */
    @Override
    public boolean equals(Object other) {
        return other instanceof SecretKey that
                && MessageDigest.isEqual(bytes().toArray(), that.bytes().toArray());
    }

    @Override
    public int hashCode() { return bytes().hashCode(); }

    /** Leaves out the key. */
    @Override
    public String toString() { return "SecretKey[]"; }
}
