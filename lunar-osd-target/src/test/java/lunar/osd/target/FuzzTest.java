package lunar.osd.target;

import static lunar.osd.target.OsdFixture.OBJECT;
import static lunar.osd.target.OsdFixture.PARTITION;
import static lunar.osd.target.OsdFixture.v2;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Random;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.OsdVersion;
import lunar.osd.wire.ServiceAction;
import lunar.osd.wire.command.CreateCollectionCommand;
import lunar.osd.wire.command.FormatOsdCommand;
import lunar.osd.wire.sense.ObjectIdentification;
import lunar.scsi.SenseKey;
import lunar.scsi.Status;
import lunar.scsi.wire.BigEndian;
import lunar.testkit.Seed;
import org.junit.jupiter.api.Test;

/**
 * Random and mutated commands with lengths that lie and random data: each ends once, with sense data that name the
 * object where it fails, and takes no more memory than the initiator receives. {@code -Dlunar.osd.commands} runs more.
 */
class FuzzTest {
    private static final int COMMANDS = Integer.getInteger("lunar.osd.commands", 40_000);
    private static final int CAPACITY = 1 << 16;
    private static final long[] NUMBERS = {0, 1, 7, 8, 24, 40, 48, 0x100, 0x1000, 0xffff,
            0x1_0000, 0x1_0001, 0x5_0000, 0xffff_ffffL, 1L << 40, Long.MAX_VALUE, Long.MIN_VALUE,
            -1};
    private static final int[] FIELDS_64 = {16, 24, 32, 36, 40, 44};
    private static final int[] FIELDS_32 = {48, 52, 56, 60, 64, 68, 72, 76};
    private static final int[] PAGES = {0, 1, 2, 3, 4, 5, 6, 0x1_0000, 0x3000_0001, 0x3000_0002,
            0x6000_0001, 0x9000_0001, 0x9000_f000, 0xf000_0003, -2, -1};

    private final long seed = Seed.next();
    private final Random random = new Random(seed);

    @Test
    void shouldEndAnyCommand() throws Exception {
        int good = 0;
        try (var device = new OsdFixture()) {
            prepare(device);
            for (int i = 0; i < COMMANDS; i++) {
                ServiceAction action = ServiceAction.values()[random
                        .nextInt(ServiceAction.values().length)];
                if (action == ServiceAction.FORMAT_OSD && random.nextInt(20) != 0) {
                    continue;
                }
                try {
                    good += run(device, action);
                } catch (AssertionError e) {
                    throw new AssertionError("seed " + seed + ", command " + i + ", " + action,
                            e);
                }
                if (random.nextInt(100) == 0) {
                    prepare(device);
                }
            }
            prepare(device);
            assertThat(device.write(OBJECT, 0, new byte[8]).isGood().data()).isEmpty();
        }
        assertThat(good).as("commands that ended with GOOD").isGreaterThan(COMMANDS / 50);
    }

    /** The capacity keeps the objects small, whatever the commands say. */
    private static void prepare(OsdFixture device) {
        device.run(new FormatOsdCommand(v2(), CAPACITY, 0)).isGood();
        device.withObject();
        device.run(new CreateCollectionCommand(ServiceAction.CREATE_COLLECTION, v2(),
                new ObjectId(PARTITION, 0x5_0000), 0, false, 0)).isGood();
    }

    private int run(OsdFixture device, ServiceAction action) {
        byte[] cdb = cdb(action);
        byte[] out = out(action);
        int expectedIn = random.nextInt(4) == 0 ? 0 : random.nextInt(4096);
        Reply reply = device.run(cdb, out, expectedIn);
        assertThat(reply.memoryBytes()).isLessThanOrEqualTo(expectedIn);
        if (action == ServiceAction.FORMAT_OSD) {
            prepare(device);
        }
        if (reply.status() == Status.CHECK_CONDITION) {
            assertThat(reply.sense().key()).as(reply.sense().toString())
                    .isIn(SenseKey.ILLEGAL_REQUEST, SenseKey.RECOVERED_ERROR,
                            SenseKey.DATA_PROTECT);
            if (cdb[0] == 0x7f && action != ServiceAction.PERFORM_SCSI_COMMAND) {
                assertThat(ObjectIdentification.of(reply.sense()))
                        .as(reply.sense().toString()).isPresent();
            }
            return 0;
        }
        return 1;
    }

    private byte[] cdb(ServiceAction action) {
        OsdVersion version = random.nextInt(3) == 0 && action.isIn(OsdVersion.OSD_1)
                ? OsdVersion.OSD_1
                : OsdVersion.OSD_2;
        byte[] bytes = new byte[version.cdbLength()];
        var cdb = MemorySegment.ofArray(bytes);
        BigEndian.int8(cdb, 0, 0x7f);
        BigEndian.int8(cdb, 7, version.cdbLength() - 8);
        BigEndian.int16(cdb, 8, action.code(version));
        BigEndian.int8(cdb, 11, new int[]{0x10, 0x20, 0x30, 0x30}[random.nextInt(4)]
                | (random.nextInt(4) == 0 ? random.nextInt(256) & 0xcf : 0));
        BigEndian.int64(cdb, 16, random.nextInt(8) == 0 ? number() : PARTITION);
        BigEndian.int64(cdb, 24, random.nextInt(4) == 0 ? number() : OBJECT.object());
        for (int at : FIELDS_64) {
            if (at >= 32 && random.nextInt(3) == 0) {
                BigEndian.int64(cdb, at, random.nextInt(3) == 0 ? number() : random.nextInt(64));
            }
        }
        for (int at : FIELDS_32) {
            if (random.nextInt(3) == 0) {
                BigEndian.int32(cdb, at, field());
            }
        }
        if (random.nextInt(6) == 0) {
            bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
        }
        return random.nextInt(50) == 0
                ? Arrays.copyOf(bytes, random.nextInt(bytes.length - 1) + 1)
                : bytes;
    }

    private long number() { return NUMBERS[random.nextInt(NUMBERS.length)]; }

    /** A length, a page or an encoded offset. */
    private int field() {
        return switch (random.nextInt(5)) {
            case 0 -> (int) number();
            case 1 -> PAGES[random.nextInt(PAGES.length)];
            case 2 -> 0xb000_0000 | random.nextInt(32);
            case 3 -> random.nextInt(8) * 8;
            default -> random.nextInt();
        };
    }

    /** Data that often begin with a list or a continuation segment, whose content is random. */
    private byte[] out(ServiceAction action) {
        byte[] bytes = new byte[random.nextInt(4) == 0 ? 0 : random.nextInt(512)];
        if (random.nextBoolean()) {
            random.nextBytes(bytes);
        }
        var out = MemorySegment.ofArray(bytes);
        if (bytes.length >= 64) {
            switch (random.nextInt(3)) {
                case 0 -> BigEndian.int8(out, 0, 9);
                case 1 -> BigEndian.int8(out, 0, 1);
                default -> {
                    out.asSlice(0, 48).fill((byte) 0);
                    BigEndian.int8(out, 0, 1);
                    BigEndian.int16(out, 2, action.code(OsdVersion.OSD_2));
                    BigEndian.int16(out, 40, random.nextInt(4));
                    BigEndian.int32(out, 44, random.nextInt(8) * 8L);
                }
            }
            for (int at = 8; at + 8 < bytes.length; at += 8) {
                if (random.nextInt(3) == 0) {
                    BigEndian.int32(out, at, PAGES[random.nextInt(PAGES.length)]);
                    BigEndian.int32(out, at + 4, random.nextInt(4) == 0 ? -1 : random.nextInt(12));
                }
            }
        }
        return bytes;
    }
}
