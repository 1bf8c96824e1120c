package lunar.store;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Optional;

/** Formats of virtual disks in files. A file device serves such a file as it is, not the disk in it. */
enum ImageFormat {
    QCOW2("qcow2", 0, "514649fb"),
    VMDK("VMDK", 0, "4b444d56"),
    VHDX("VHDX", 0, "7668647866696c65"),
    VDI("VDI", 64, "7f10dabe");

    private static final int HEAD_BYTES = 512;

    private final String title;
    private final int at;
    private final String magic;

    ImageFormat(String title, int at, String magic) {
        this.title = title;
        this.at = at;
        this.magic = magic;
    }

    /** Returns the format of a file by its magic number; empty for raw disks. */
    static Optional<ImageFormat> of(Path file) throws IOException {
        try (InputStream in = Files.newInputStream(file)) {
            byte[] head = Arrays.copyOf(in.readNBytes(HEAD_BYTES), HEAD_BYTES);
            return Arrays.stream(values()).filter(format -> format.isIn(head)).findFirst();
        }
    }

    private boolean isIn(byte[] head) {
        return HexFormat.of().formatHex(head, at, at + magic.length() / 2).equals(magic);
    }

    @Override
    public String toString() { return title; }
}
