package lunar.cli;

import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.util.List;
import java.util.Set;
import lunar.iscsi.ChapAlgorithm;
import lunar.iscsi.ChapCredentials;
import lunar.iscsi.Secret;

/** Reads {@code USER:@FILE}: a name, and the file with its secret, so that no secret stands on a command line. */
final class Credentials {
    private static final int MAX_FILE_BYTES = 4096;
    private static final Set<PosixFilePermission> OTHERS = Set.of(
            PosixFilePermission.GROUP_READ, PosixFilePermission.OTHERS_READ);

    private final Console console;

    Credentials(Console console) { this.console = console; }

    /** @param option what the user wrote it for, for messages */
    ChapCredentials read(String option, String text) throws Failure {
        int colon = text.indexOf(":@");
        if (colon <= 0 || colon + 2 == text.length()) {
            throw new Failure(option + " must be USER:@FILE, where FILE holds the secret");
        }
        return new ChapCredentials(text.substring(0, colon),
                secret(option, text.substring(colon + 2)));
    }

    /** The algorithms of a list such as {@code sha3-256,sha-256}. */
    static List<ChapAlgorithm> algorithms(String option, String text) throws Failure {
        try {
            return ChapAlgorithm.parse(text);
        } catch (IllegalArgumentException e) {
            throw new Failure(option + ": " + e.getMessage(), e);
        }
    }

    private Secret secret(String option, String file) throws Failure {
        String what = "secret file " + file + " of " + option;
        try {
            Path path = Path.of(file);
            if (Files.isDirectory(path)) {
                throw new Failure(what + " is a directory; name a file");
            }
            if (Files.size(path) > MAX_FILE_BYTES) {
                throw new Failure(what + " is longer than " + MAX_FILE_BYTES + " bytes");
            }
            String text = Files.readString(path).replaceFirst("\\R\\z", "");
            if (text.isEmpty()) {
                throw new Failure(what + " is empty; write the secret into it");
            }
            Secret secret = Secret.of(text);
            remark(path, what, secret);
            return secret;
        } catch (NoSuchFileException e) {
            throw new Failure(what + " does not exist", e);
        } catch (CharacterCodingException e) {
            throw new Failure(what + " is not UTF-8 text", e);
        } catch (IOException | InvalidPathException e) {
            throw new Failure(what + " cannot be read; check its permissions", e);
        }
    }

    private void remark(Path path, String what, Secret secret) throws IOException {
        if (secret.isShort()) {
            console.remark(what + " holds less than " + Secret.RECOMMENDED_BYTES
                    + " bytes, which can be guessed; some initiators refuse it");
        }
        if (path.getFileSystem().supportedFileAttributeViews().contains("posix")
                && Files.getPosixFilePermissions(path).stream().anyMatch(OTHERS::contains)) {
            console.remark(what + " can be read by other users; chmod 600 it");
        }
    }
}
