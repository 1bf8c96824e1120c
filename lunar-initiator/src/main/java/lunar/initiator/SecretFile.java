package lunar.initiator;

import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import lunar.iscsi.login.ChapCredentials;
import lunar.iscsi.login.Secret;

/** A CHAP user name and the file with its secret; a trailing line end is ignored. */
record SecretFile(String user, Path file) implements ChapSource {
    private static final int MAX_BYTES = 4096;

    @Override
    public ChapCredentials credentials(String targetName) throws IOException {
        return new ChapCredentials(user, read());
    }

    private Secret read() throws IOException {
        try {
            PrivateFiles.require(file, "secret file " + file);
            if (Files.size(file) > MAX_BYTES) {
                throw new IOException("secret file " + file + " is too long");
            }
            String text = Files.readString(file).replaceFirst("\\R\\z", "");
            if (text.isEmpty()) {
                throw new IOException("secret file " + file + " is empty");
            }
            return Secret.of(text);
        } catch (NoSuchFileException e) {
            throw new IOException("secret file " + file + " does not exist", e);
        } catch (CharacterCodingException e) {
            throw new IOException("secret file " + file + " is not UTF-8 text", e);
        } catch (FileSystemException e) {
            throw new IOException("cannot read secret file " + file, e);
        }
    }
}
