package lunar.iscsi.login;

/** Source of CHAP's unpredictable values: a {@link java.security.SecureRandom} outside tests. */
@FunctionalInterface
public interface ChallengeSource {
    /** Returns that many unpredictable bytes. */
    byte[] bytes(int count);
}
