package lunar.fs;

import static lunar.fs.LittleEndian.s64;
import static lunar.fs.LittleEndian.u16;
import static lunar.fs.LittleEndian.u32;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.zip.CRC32;

/**
 * The GUID partition table (UEFI 2.10, section 5.3): a header in block 1 and an array of entries, both with a CRC-32,
 * and a copy of both at the end of the device.
 *
 * <pre>
 * header   0 "EFI PART"   12 header bytes   16 CRC of the header   24 its own block   72 block of the entries
 *         80 entries      84 bytes of one   88 CRC of the entries
 * entry    0 type GUID    32 first block    40 last block          56 name, 36 units of UTF-16
 * </pre>
 */
final class Gpt {
    private static final byte[] SIGNATURE = "EFI PART".getBytes(StandardCharsets.US_ASCII);
    private static final int MIN_HEADER_BYTES = 92;
    private static final int MIN_ENTRY_BYTES = 128;
    private static final int MAX_ENTRY_BYTES = 4096;
    private static final int NAME = 56;
    private static final int NAME_BYTES = 72;
    private static final int GUID_BYTES = 16;

    private static final Map<String, String> TYPES = Map.ofEntries(
            Map.entry("c12a7328-f81f-11d2-ba4b-00a0c93ec93b", "EFI system"),
            Map.entry("0fc63daf-8483-4772-8e79-3d69d8477de4", "Linux"),
            Map.entry("4f68bce3-e8cd-4db1-96e7-fbcaf984b709", "Linux root (x86-64)"),
            Map.entry("b921b045-1df0-41c3-af44-4c6f280d3fae", "Linux root (ARM64)"),
            Map.entry("933ac7e1-2eb4-4f13-b844-0e14e2aef915", "Linux home"),
            Map.entry("3b8f8425-20e0-4f3b-907f-1a25a76f98e8", "Linux server data"),
            Map.entry("bc13c2ff-59e6-4262-a352-b275fd6f7172", "Linux boot"),
            Map.entry("0657fd6d-a4ab-43c4-84e5-0933c84b4f4f", "Linux swap"),
            Map.entry("e6d6d379-f507-44c2-a23c-238f2a3df928", "Linux LVM"),
            Map.entry("a19d880f-05fc-4d3b-a006-743f0f84911e", "Linux RAID"),
            Map.entry("ebd0a0a2-b9e5-4433-87c0-68b6b72699c7", "Microsoft basic data"),
            Map.entry("e3c9e316-0b5c-4db8-817d-f92df00215ae", "Microsoft reserved"),
            Map.entry("de94bba4-06d1-4d40-a16a-bfd50179d6ac", "Windows recovery"),
            Map.entry("21686148-6449-6e6f-744e-656564454649", "BIOS boot"));

    private final VolumeReader whole;
    private final int sectorBytes;

    private Gpt(VolumeReader whole, int sectorBytes) {
        this.whole = whole;
        this.sectorBytes = sectorBytes;
    }

    /** The partitions; empty if there is no such table. */
    static Optional<List<Volume>> read(VolumeReader whole, int blockSize, List<String> notices)
            throws IOException {
        if (!Mbr.isProtective(whole)) {
            return Optional.empty();
        }
        for (int sectorBytes : blockSize == 512 ? new int[]{512, 4096} : new int[]{4096, 512}) {
            var table = new Gpt(whole, sectorBytes);
            Optional<byte[]> entries = table.entries(1);
            if (entries.isEmpty()) {
                entries = table.entries(whole.sizeBytes() / sectorBytes - 1);
                if (entries.isPresent()) {
                    notices.add("the GUID partition table is damaged; the backup at the end of the"
                            + " device was used");
                }
            }
            if (entries.isPresent()) {
                return Optional.of(table.volumes(entries.get(), notices));
            }
        }
        notices.add("both copies of the GUID partition table are damaged");
        return Optional.empty();
    }

    private int entryBytes;

    /** Returns the array of entries, if the checksums of header and entries match. */
    private Optional<byte[]> entries(long block) throws IOException {
        long position = block * sectorBytes;
        if (block < 1 || !whole.has(position, sectorBytes)) {
            return Optional.empty();
        }
        byte[] header = whole.read(position, sectorBytes);
        long headerBytes = u32(header, 12);
        if (!Arrays.equals(header, 0, SIGNATURE.length, SIGNATURE, 0, SIGNATURE.length)
                || headerBytes < MIN_HEADER_BYTES || headerBytes > sectorBytes
                || s64(header, 24) != block) {
            return Optional.empty();
        }
        long crc = u32(header, 16);
        Arrays.fill(header, 16, 20, (byte) 0);
        if (crc(header, (int) headerBytes) != crc) {
            return Optional.empty();
        }
        long first = s64(header, 72);
        long count = u32(header, 80);
        long bytes = u32(header, 84);
        if (count > PartitionTable.MAX_PARTITIONS || bytes < MIN_ENTRY_BYTES
                || bytes > MAX_ENTRY_BYTES || bytes % 8 != 0 || first < 0
                || first > whole.sizeBytes() / sectorBytes
                || !whole.has(first * sectorBytes, count * bytes)) {
            return Optional.empty();
        }
        byte[] entries = whole.read(first * sectorBytes, (int) (count * bytes));
        entryBytes = (int) bytes;
        return crc(entries, entries.length) == u32(header, 88)
                ? Optional.of(entries)
                : Optional.empty();
    }

    private static long crc(byte[] bytes, int count) {
        var crc = new CRC32();
        crc.update(bytes, 0, count);
        return crc.getValue();
    }

    private List<Volume> volumes(byte[] entries, List<String> notices) {
        var volumes = new ArrayList<Volume>();
        for (int at = 0, number = 1; at < entries.length; at += entryBytes, number++) {
            if (isUnused(entries, at)) {
                continue;
            }
            long first = s64(entries, at + 32);
            long last = s64(entries, at + 40);
            long sectors = whole.sizeBytes() / sectorBytes;
            boolean sane = first > 0 && first < sectors && last >= first
                    && last <= Long.MAX_VALUE / sectorBytes - 1;
            String guid = guid(entries, at);
            var volume = new Volume(number, TYPES.getOrDefault(guid, "type " + guid),
                    name(entries, at + NAME), sane ? first * sectorBytes : -1,
                    sane ? (last - first + 1) * sectorBytes : -1);
            PartitionTable.onDevice(whole, volume, notices).ifPresent(volumes::add);
        }
        return volumes;
    }

    private static boolean isUnused(byte[] entries, int at) {
        return s64(entries, at) == 0 && s64(entries, at + 8) == 0;
    }

    private static String name(byte[] entries, int at) {
        int length = 0;
        while (length < NAME_BYTES && u16(entries, at + length) != 0) {
            length += 2;
        }
        return Names.printable(new String(entries, at, length, StandardCharsets.UTF_16LE)).strip();
    }

    /** The first three groups of a GUID are numbers with the least significant byte first. */
    private static String guid(byte[] bytes, int at) {
        var text = new StringBuilder(String.format(Locale.ROOT, "%08x-%04x-%04x-", u32(bytes, at),
                u16(bytes, at + 4), u16(bytes, at + 6)));
        for (int i = 8; i < GUID_BYTES; i++) {
            text.append(i == 10 ? "-" : "")
                    .append(String.format(Locale.ROOT, "%02x", bytes[at + i] & 0xff));
        }
        return text.toString();
    }
}
