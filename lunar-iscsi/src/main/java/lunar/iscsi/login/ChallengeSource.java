package lunar.iscsi.login;

/** Source of unpredictable values for CHAP: a {@link java.security.SecureRandom} outside tests. */
@FunctionalInterface
public interface ChallengeSource {
    /** Returns that many unpredictable bytes. */
    byte[] bytes(int count);
}
