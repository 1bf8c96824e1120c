package lunar.server;

import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Optional;
import lunar.block.PrivateFile;
import lunar.iscsi.login.ChapCredentials;
import lunar.iscsi.login.Secret;

/** Reads {@code USER:@FILE}: a name and the file with its secret, so that secrets need not be on a command line. */
public final class CredentialFiles {
    private static final int MAX_FILE_BYTES = 4096;

    private final ServerListener listener;

    /** Creates a reader that warns the listener of secrets that are short, or that others can read. */
    public CredentialFiles(ServerListener listener) {
        this.listener = listener;
    }

    /**
     * Reads the credentials of a server.
     *
     * @param option purpose, for messages
     * @param exposed whether other machines can reach the protected targets, which requires a long secret
     * @throws InvalidPlanException if the file does not exist or contains no secret; the message is one line
     */
    ChapCredentials read(String option, String text, boolean exposed) throws InvalidPlanException {
        ChapCredentials read = read(option, text);
        if (read.secret().isShort()) {
            String what = "secret file " + text.substring(text.indexOf(":@") + 2) + " of " + option
                    + " holds less than " + Secret.REQUIRED_BYTES + " bytes, ";
            if (exposed) {
                throw new InvalidPlanException(
                        what + "too few where other machines can listen (RFC 7143 section"
                                + " 9.2.1); use a longer secret");
            }
            listener.warned(what + "which can be guessed; some initiators reject it", null);
        }
        return read;
    }

    /**
     * Reads the credentials of a client; the login checks whether the secret is long enough for its destination.
     *
     * @param option purpose, for messages
     * @param text {@code USER:@FILE}
     * @throws InvalidPlanException if the file does not exist or contains no secret; the message is one line
     */
    public ChapCredentials read(String option, String text) throws InvalidPlanException {
        int colon = text.indexOf(":@");
        if (colon <= 0 || colon + 2 == text.length()) {
            throw new InvalidPlanException(
                    option + " must be USER:@FILE, where FILE holds the secret");
        }
        return new ChapCredentials(text.substring(0, colon),
                secret(option, text.substring(colon + 2)));
    }

    private Secret secret(String option, String file) throws InvalidPlanException {
        String what = "secret file " + file + " of " + option;
        try {
            Path path = Path.of(file);
            if (Files.isDirectory(path)) {
                throw new InvalidPlanException(what + " is a directory; name a file");
            }
            if (Files.size(path) > MAX_FILE_BYTES) {
                throw new InvalidPlanException(
                        what + " is longer than " + MAX_FILE_BYTES + " bytes");
            }
            String text = Files.readString(path).replaceFirst("\\R\\z", "");
            if (text.isEmpty()) {
                throw new InvalidPlanException(what + " is empty; write the secret into it");
            }
            Secret secret = Secret.of(text);
            requirePrivate(path, what, listener);
            return secret;
        } catch (NoSuchFileException e) {
            throw new InvalidPlanException(what + " does not exist", e);
        } catch (CharacterCodingException e) {
            throw new InvalidPlanException(what + " is not UTF-8 text", e);
        } catch (IOException | InvalidPathException e) {
            throw new InvalidPlanException(what + " cannot be read; check its permissions", e);
        }
    }

    /**
     * Refuses a file that others could have written; warns of one that they can read.
     *
     * @param what the file, in messages
     */
    static void requirePrivate(Path path, String what, ServerListener listener)
            throws IOException, InvalidPlanException {
        Optional<PrivateFile.Exposure> exposure = PrivateFile.check(path);
        if (exposure.isPresent()) {
            String message = what + " " + exposure.get();
            switch (exposure.get()) {
                case FOREIGN, WRITABLE -> throw new InvalidPlanException(message);
                case READABLE -> listener.warned(message, null);
            }
        }
    }
}
