package lunar.iscsi;

/** Where CHAP gets what nobody may guess: a {@link java.security.SecureRandom} outside tests. */
@FunctionalInterface
public interface ChallengeSource {
    /** As many unpredictable bytes. */
    byte[] bytes(int count);
}
