package lunar.filter;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.Optional;
import lunar.block.DeviceGoneException;
import lunar.block.PrivateFile;

/** A file with one key in hexadecimal digits, which only its owner may read. */
public final class KeyFile {
    private static final int MAX_BYTES = 1024;

    private final Path path;

    /** @param path it need not exist */
    public KeyFile(Path path) { this.path = path; }

    /** Whether the file is there. */
    boolean exists() { return Files.exists(path); }

    /**
     * Reads the key.
     *
     * @throws DeviceGoneException if the file is missing, exposed to other users, or holds no key
     */
    byte[] load() throws DeviceGoneException {
        try {
            Optional<PrivateFile.Exposure> exposure = PrivateFile.check(path);
            if (exposure.isPresent()) {
                throw new DeviceGoneException(this + " " + exposure.get());
            }
            if (Files.size(path) > MAX_BYTES) {
                throw wrong();
            }
            byte[] key = HexFormat.of()
                    .parseHex(Files.readString(path, StandardCharsets.US_ASCII).strip());
            if (key.length != Xts.KEY_BYTES) {
                throw wrong();
            }
            return key;
        } catch (NoSuchFileException e) {
            throw new DeviceGoneException(this
                    + " does not exist; specify the one that the device was"
                    + " written with, or create a key for a new device with 'lunar key create "
                    + path + "'", e);
        } catch (IllegalArgumentException _) { // its message would tell digits of the key
            throw wrong();
        } catch (DeviceGoneException e) {
            throw e;
        } catch (IOException e) {
            throw new DeviceGoneException(this + " cannot be read: " + e.getMessage(), e);
        }
    }

    private DeviceGoneException wrong() {
        return new DeviceGoneException(this + " is not a key of " + Xts.KEY_BYTES
                + " bytes in hexadecimal digits; specify the right file, or a new one");
    }

    /**
     * Creates the file with a new random key, on stable storage.
     *
     * @throws DeviceGoneException if the file exists, which is then left unchanged, or cannot be created
     */
    public void create() throws DeviceGoneException {
        try {
            write(path, freshKey());
            forceFolder();
        } catch (FileAlreadyExistsException e) {
            throw new DeviceGoneException(
                    this + " already exists and is not overwritten; choose another name", e);
        } catch (IOException e) {
            throw notWritten(e);
        }
    }

    static byte[] freshKey() {
        byte[] key = new byte[Xts.KEY_BYTES];
        new SecureRandom().nextBytes(key);
        return key;
    }

    /**
     * Replaces the key in the file; the new key is on stable storage, and the old one erased, when the method returns.
     */
    void replace(byte[] key) throws DeviceGoneException {
        Path fresh = path.resolveSibling(path.getFileName() + ".new");
        try {
            Files.deleteIfExists(fresh);
            write(fresh, key);
            try (FileChannel old = FileChannel.open(path, StandardOpenOption.WRITE)) {
                Files.move(fresh, path, StandardCopyOption.ATOMIC_MOVE,
                        StandardCopyOption.REPLACE_EXISTING);
                forceFolder();
                old.write(ByteBuffer.wrap(new byte[2 * Xts.KEY_BYTES + 1]), 0); // its blocks would outlive its name
                old.force(true);
            }
        } catch (IOException e) {
            throw notWritten(e);
        }
    }

    private DeviceGoneException notWritten(IOException cause) {
        return new DeviceGoneException(this + " cannot be written: " + cause.getMessage(), cause);
    }

    private void forceFolder() throws IOException {
        try (FileChannel entries = FileChannel.open(path.toAbsolutePath().getParent())) {
            entries.force(true);
        }
    }

    private static void write(Path file, byte[] key) throws IOException {
        PrivateFile.create(file, (HexFormat.of().formatHex(key) + "\n")
                .getBytes(StandardCharsets.US_ASCII));
    }

    @Override
    public String toString() { return "key file " + path; }
}
