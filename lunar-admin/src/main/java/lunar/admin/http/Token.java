package lunar.admin.http;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import lunar.admin.tls.PrivateFile;

/** The bearer token of the admin API. Only its hash is kept; it is compared in constant time. */
public final class Token {
    /** Characters of the shortest token. */
    public static final int MIN_LENGTH = 16;

    private static final int MAX_BYTES = 4096;
    /** First and last printable character of ASCII after the space. */
    private static final char FIRST = '!';
    private static final char LAST = '~';
    private static final String SCHEME = "Bearer ";
    private static final String TITLE = "the token file";

    private final byte[] hash;

    private Token(byte[] hash) { this.hash = hash; }

    /**
     * Reads a token from a file that only its owner can read or write.
     *
     * @throws IOException if there is no such file, others can access it, or the token is too short; one line for the
     *         operator, without the token
     */
    public static Token read(Path file) throws IOException {
        String text;
        try {
            PrivateFile.require(TITLE, file);
            if (Files.size(file) > MAX_BYTES) {
                throw new PrivateFile.Unfit(TITLE, file, "has more than " + MAX_BYTES + " bytes");
            }
            text = Files.readString(file, StandardCharsets.ISO_8859_1).strip();
        } catch (NoSuchFileException e) {
            throw new IOException("the token file " + file + " does not exist", e);
        } catch (PrivateFile.Unfit e) {
            throw e;
        } catch (IOException e) {
            throw new IOException("cannot read the token file " + file + ": "
                    + SocketLock.reason(e), e);
        }
        if (text.length() < MIN_LENGTH || text.chars().anyMatch(c -> c < FIRST || c > LAST)) {
            throw new PrivateFile.Unfit(TITLE, file, "must hold one line of at least " + MIN_LENGTH
                    + " printable ASCII characters without spaces");
        }
        return new Token(hash(text));
    }

    /** Whether the value of an Authorization header has the token. */
    boolean admits(String authorization) {
        return authorization.regionMatches(true, 0, SCHEME, 0, SCHEME.length())
                && MessageDigest.isEqual(hash,
                        hash(authorization.substring(SCHEME.length()).strip()));
    }

    private static byte[] hash(String text) {
        try {
            return MessageDigest.getInstance("SHA-256")
                    .digest(text.getBytes(StandardCharsets.UTF_8));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }
}
