package lunar.block;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.Set;

/** A file with one key in hexadecimal digits, which only its owner may read. */
final class KeyFile {
    private static final int MAX_BYTES = 1024;

    private final Path path;

    KeyFile(Path path) { this.path = path; }

    /** The key in the file; a new one where there is no file yet. */
    byte[] loadOrCreate() throws DeviceGoneException {
        try {
            if (Files.size(path) > MAX_BYTES) {
                throw wrong();
            }
            byte[] key = HexFormat.of()
                    .parseHex(Files.readString(path, StandardCharsets.US_ASCII).strip());
            if (key.length != Xts.KEY_BYTES) {
                throw wrong();
            }
            return key;
        } catch (NoSuchFileException _) {
            return replace();
        } catch (IllegalArgumentException _) { // its message would tell digits of the key
            throw wrong();
        } catch (IOException e) {
            throw new DeviceGoneException("key file " + path + " cannot be read: "
                    + e.getMessage(), e);
        }
    }

    private DeviceGoneException wrong() {
        return new DeviceGoneException("key file " + path + " is not a key of "
                + Xts.KEY_BYTES
                + " bytes in hexadecimal digits; name the right file, or a new one");
    }

    /** Puts a new random key into the file; it is on stable storage, and the old one gone, when the call returns. */
    byte[] replace() throws DeviceGoneException {
        byte[] key = new byte[Xts.KEY_BYTES];
        new SecureRandom().nextBytes(key);
        Path fresh = path.resolveSibling(path.getFileName() + ".new");
        try {
            Files.deleteIfExists(fresh);
            Files.createFile(fresh, PosixFilePermissions
                    .asFileAttribute(PosixFilePermissions.fromString("rw-------")));
            write(fresh, HexFormat.of().formatHex(key) + "\n");
            try (FileChannel old = Files.exists(path)
                    ? FileChannel.open(path, StandardOpenOption.WRITE)
                    : FileChannel.open(fresh)) {
                boolean replaces = Files.exists(path);
                Files.move(fresh, path, StandardCopyOption.ATOMIC_MOVE,
                        StandardCopyOption.REPLACE_EXISTING);
                try (FileChannel entries = FileChannel
                        .open(path.toAbsolutePath().getParent())) {
                    entries.force(true);
                }
                if (replaces) { // its blocks would outlive its name
                    old.write(ByteBuffer.wrap(new byte[2 * Xts.KEY_BYTES + 1]), 0);
                    old.force(true);
                }
            }
        } catch (IOException e) {
            throw new DeviceGoneException("key file " + path + " cannot be written: "
                    + e.getMessage(), e);
        }
        return key;
    }

    private static void write(Path file, String text) throws IOException {
        ByteBuffer bytes = ByteBuffer.wrap(text.getBytes(StandardCharsets.US_ASCII));
        try (FileChannel channel = FileChannel.open(file, Set.of(StandardOpenOption.WRITE))) {
            while (bytes.hasRemaining()) {
                channel.write(bytes);
            }
            channel.force(true);
        }
    }
}
