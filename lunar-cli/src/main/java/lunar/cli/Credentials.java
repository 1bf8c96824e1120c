package lunar.cli;

import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import lunar.block.PrivateFile;
import lunar.iscsi.ChapAlgorithm;
import lunar.iscsi.ChapCredentials;
import lunar.iscsi.Secret;

/** Reads {@code USER:@FILE}: a name, and the file with its secret, so that no secret stands on a command line. */
final class Credentials {
    private static final int MAX_FILE_BYTES = 4096;

    private final Console console;

    Credentials(Console console) { this.console = console; }

    /**
     * Of a server.
     *
     * @param option what the user wrote it for, for messages
     * @param exposed whether other machines can reach what it protects: then it must not be short
     */
    ChapCredentials read(String option, String text, boolean exposed) throws Failure {
        ChapCredentials read = read(option, text);
        if (read.secret().isShort()) {
            String what = "secret file " + text.substring(text.indexOf(":@") + 2) + " of " + option
                    + " holds less than " + Secret.REQUIRED_BYTES + " bytes, ";
            if (exposed) {
                throw new Failure(what + "too few where other machines can listen (RFC 7143 section"
                        + " 9.2.1); write a longer secret into it");
            }
            console.remark(what + "which can be guessed; some initiators refuse it");
        }
        return read;
    }

    /** Reads those of a client; its login says whether the secret is long enough for where it goes. */
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
            check(path, what);
            return secret;
        } catch (NoSuchFileException e) {
            throw new Failure(what + " does not exist", e);
        } catch (CharacterCodingException e) {
            throw new Failure(what + " is not UTF-8 text", e);
        } catch (IOException | InvalidPathException e) {
            throw new Failure(what + " cannot be read; check its permissions", e);
        }
    }

    /** Refuses a file that others could have written; one that they can read is told. */
    private void check(Path path, String what) throws IOException, Failure {
        Optional<PrivateFile.Exposure> exposure = PrivateFile.check(path);
        if (exposure.isPresent()) {
            String message = what + " " + exposure.get();
            switch (exposure.get()) {
                case FOREIGN, WRITABLE -> throw new Failure(message);
                case READABLE -> console.remark(message);
            }
        }
    }
}
