package lunar.initiator;

import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Optional;
import lunar.block.PrivateFile;

/** Checks who else can use the private key of an initiator's certificate, as is checked for secret files. */
final class PrivateKeyFile {
    private PrivateKeyFile() {}

    /** Refuses a file that others could have written; logs one that they can read. */
    static void require(Path file) throws IOException {
        Optional<PrivateFile.Exposure> exposure;
        try {
            exposure = PrivateFile.check(file);
        } catch (NoSuchFileException e) {
            throw new IOException(file + " does not exist", e);
        }
        if (exposure.isPresent()) {
            String message = "key file " + file + " " + exposure.get();
            switch (exposure.get()) {
                case FOREIGN, WRITABLE -> throw new IOException(message);
                case READABLE -> System.getLogger("lunar.initiator")
                        .log(System.Logger.Level.WARNING, message);
            }
        }
    }
}
