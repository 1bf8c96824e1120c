package lunar.initiator;

import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Optional;
import lunar.block.PrivateFile;

/** Checks who else can use the secret of an initiator, or the private key of its certificate. */
final class PrivateFiles {
    private PrivateFiles() {}

    /** Checks the file of a private key. */
    static void require(Path file) throws IOException {
        try {
            require(file, "key file " + file);
        } catch (NoSuchFileException e) {
            throw new IOException(file + " does not exist", e);
        }
    }

    /**
     * Refuses a file that others could have written; logs one that they can read.
     *
     * @param what the file, in messages
     */
    static void require(Path file, String what) throws IOException {
        Optional<PrivateFile.Exposure> exposure = PrivateFile.check(file);
        if (exposure.isPresent()) {
            String message = what + " " + exposure.get();
            switch (exposure.get()) {
                case FOREIGN, WRITABLE -> throw new IOException(message);
                case READABLE -> System.getLogger("lunar.initiator")
                        .log(System.Logger.Level.WARNING, message);
            }
        }
    }
}
