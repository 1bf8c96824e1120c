package lunar.admin.tls;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.UserPrincipal;
import java.util.Set;
import lunar.tls.CertifiedKey;

/** Checks files with secrets: only the user of this process, or root, may own them, and only the owner access them. */
public final class PrivateFile {
    private static final String ROOT = "root";
    private static final Set<PosixFilePermission> OTHERS = Set.of(PosixFilePermission.GROUP_READ,
            PosixFilePermission.GROUP_WRITE, PosixFilePermission.OTHERS_READ,
            PosixFilePermission.OTHERS_WRITE);

    private PrivateFile() {}

    /** Thrown for a file that cannot be used, with one line for the operator. */
    public static final class Unfit extends IOException {
        private static final long serialVersionUID = 1;

        /** @param title of the file, as {@code "the token file"} */
        public Unfit(String title, Path file, String why) {
            super(title + " " + file + " " + why);
        }
    }

    /**
     * Throws if others could read or write a file.
     *
     * @param title of the file, as {@code "the token file"}
     * @throws Unfit if others can access it, or it belongs to another user
     * @throws IOException if that cannot be found out
     */
    public static void require(String title, Path file) throws IOException {
        if (Files.getPosixFilePermissions(file).stream().anyMatch(OTHERS::contains)) {
            throw new Unfit(title, file, "can be accessed by other users: chmod 600 " + file);
        }
        UserPrincipal owner = Files.getOwner(file);
        if (!owner.equals(Files.getOwner(Path.of("/proc/self"))) && !owner.getName().equals(ROOT)) {
            throw new Unfit(title, file, "belongs to user " + owner.getName()
                    + ", not to the user of this process: chown it");
        }
    }

    /**
     * Reads a certificate chain and its key, of a file that only its owner can access.
     *
     * @throws IOException if these cannot be used, or others can access the key; one line for the operator
     */
    public static CertifiedKey certifiedKey(Path certificate, Path key) throws IOException {
        CertifiedKey read = CertifiedKey.read(certificate, key);
        require("the key file", key);
        return read;
    }
}
