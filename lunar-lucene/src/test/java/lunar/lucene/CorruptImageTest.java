package lunar.lucene;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.zip.CRC32C;
import lunar.block.BlockDevice;
import lunar.block.Devices;
import lunar.testkit.Seed;
import org.apache.lucene.index.CorruptIndexException;
import org.apache.lucene.store.IOContext;
import org.apache.lucene.store.IndexInput;
import org.apache.lucene.store.IndexOutput;
import org.junit.jupiter.api.Test;

/** Tests corrupt images, damaged by accident or deliberately with a valid checksum. */
class CorruptImageTest {
    private static final int BYTES = 4 << 20;

    private final long seed = Seed.next();
    private final Random random = new Random(seed);

    /** An image with some files, written in two commits. */
    private static byte[] image() throws IOException {
        try (BlockDevice device = Devices.open("ram:" + BYTES)) {
            LunarDirectory.format(device);
            try (LunarDirectory directory = LunarDirectory.open(device)) {
                for (int i = 0; i < 20; i++) {
                    try (IndexOutput out = directory.createOutput("_" + i, IOContext.DEFAULT)) {
                        out.writeBytes(new byte[i * 5000], i * 5000);
                    }
                    if (i == 10) {
                        directory.syncMetaData();
                    }
                }
            }
            byte[] image = new byte[BYTES];
            device.read(0, MemorySegment.ofArray(image));
            return image;
        }
    }

    /** Opens and reads everything: all may fail, with an IOException. */
    private void use(byte[] image, String what) throws IOException {
        try (BlockDevice device = Devices.open("ram:" + BYTES)) {
            device.write(0, MemorySegment.ofArray(image));
            try (LunarDirectory directory = LunarDirectory.open(device, 1 << 20)) {
                for (String name : directory.listAll()) {
                    try (IndexInput in = directory.openInput(name, IOContext.DEFAULT)) {
                        in.skipBytes(in.length());
                    }
                }
                directory.createOutput("another", IOContext.DEFAULT).close();
            } catch (IOException e) {
                assertThat(e.getMessage()).as(what).isNotNull();
            }
        }
    }

    @Test
    void shouldOpenOrRejectAnImageWithWrongBits() throws Exception {
        byte[] good = image();
        int metadata = (2 + 2 * Layout.MIN_AREA_UNITS) * Layout.UNIT_BYTES;
        for (int round = 0; round < 300; round++) {
            byte[] bad = good.clone();
            for (int i = random.nextInt(20); i >= 0; i--) {
                int at = switch (random.nextInt(4)) {
                    case 0 -> random.nextInt(60);
                    case 1 -> BYTES - Layout.UNIT_BYTES + random.nextInt(60);
                    case 2 -> 2 * Layout.UNIT_BYTES + random.nextInt(400);
                    default -> random.nextInt(metadata);
                };
                bad[at] ^= (byte) (1 << random.nextInt(8));
            }
            use(bad, "seed %d round %d".formatted(seed, round));
        }
    }

    /** The older table counts when the newer one is spoilt: no file of it has lost its space yet. */
    @Test
    void shouldUseTheOlderTableIfTheNewerIsDamaged() throws Exception {
        byte[] image = image();
        for (int area = 0; area < 2; area++) {
            byte[] bad = image.clone();
            bad[(2 + area * Layout.MIN_AREA_UNITS) * Layout.UNIT_BYTES + 100] ^= 1;
            try (BlockDevice device = Devices.open("ram:" + BYTES)) {
                device.write(0, MemorySegment.ofArray(bad));
                try (LunarDirectory directory = LunarDirectory.open(device)) {
                    assertThat(directory.listAll().length).isIn(11, 20);
                }
            }
        }
    }

    @Test
    void shouldRejectTablesThatLieUnderARightChecksum() throws Exception {
        Layout layout = Layout.of(new UUID(1, 2), 1024);
        var table = new FileTable(7, 100, List.of(
                new FileTable.Entry("_0.cfs", 3, 9000, List.of(new UnitRun(200, 2),
                        new UnitRun(300, 1))),
                new FileTable.Entry("segments_1", 99, 0, List.of())));
        byte[] good = table.encode(layout.image());
        int length = table.encodedBytes();
        assertThat(decode(good, layout)).isEqualTo(table);
        int refused = 0;
        for (int round = 0; round < 20_000; round++) {
            byte[] bad = good.clone();
            for (int i = random.nextInt(3); i >= 0; i--) {
                int at = 16 + random.nextInt(length - 16);
                bad[at] = random.nextBoolean()
                        ? (byte) random.nextInt()
                        : (byte) (random.nextBoolean() ? 0xff : 0x7f);
            }
            try {
                decode(sealed(bad, length), layout);
            } catch (CorruptIndexException e) {
                assertThat(e).as("seed %d", seed).hasMessageContaining("resource=device");
                refused++;
            }
        }
        assertThat(refused).as("seed %d", seed).isGreaterThan(5000);
    }

    private static byte[] sealed(byte[] table, int length) {
        var crc = new CRC32C();
        crc.update(table, 16, length - 16);
        ByteBuffer.wrap(table).putInt(12, (int) crc.getValue());
        return table;
    }

    private static FileTable decode(byte[] bytes, Layout layout) throws CorruptIndexException {
        int length = FileTable.encodedBytes(bytes, layout, "device");
        if (length > bytes.length) {
            throw new CorruptIndexException("longer than what was read", "device");
        }
        return FileTable.decode(bytes, length, new FreeSpace(layout.data()), "device");
    }

    @Test
    void shouldRejectFilesThatShareUnitsOrLieInMetadata() {
        Layout layout = Layout.of(new UUID(1, 2), 1024);
        for (List<UnitRun> runs : List.of(List.of(new UnitRun(200, 2), new UnitRun(201, 1)),
                List.of(new UnitRun(1, 3)), List.of(new UnitRun(1022, 3)),
                List.of(new UnitRun(200, 2)))) {
            var table = new FileTable(1, 9,
                    List.of(new FileTable.Entry("x", 1, 3 * Layout.UNIT_BYTES, runs)));
            assertThatThrownBy(() -> decode(table.encode(layout.image()), layout))
                    .as("%s", runs).isInstanceOf(CorruptIndexException.class);
        }
    }
}
