package lunar.osd.target;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Random;
import java.util.function.Function;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.OsdVersion;
import lunar.osd.wire.ServiceAction;
import lunar.osd.wire.attribute.ListParameters;
import lunar.osd.wire.command.AttributesCommand;
import lunar.osd.wire.command.ByteRangeCommand;
import lunar.osd.wire.command.CommonFields;
import lunar.osd.wire.command.CreateCommand;
import lunar.osd.wire.command.FormatOsdCommand;
import lunar.osd.wire.command.ListCommand;
import lunar.osd.wire.command.OsdCdb;
import lunar.osd.wire.security.Capability;
import lunar.osd.wire.security.SecurityMethod;
import lunar.osd.wire.sense.ObjectIdentification;
import lunar.scsi.Status;
import lunar.testkit.Seed;
import org.junit.jupiter.api.Test;

/** Commands that are signed, but otherwise random: a client with a credential may be as hostile as any. */
class SecuredFuzzTest {
    private static final int COMMANDS = 3_000;
    /** Keeps the objects small, whatever the commands say. */
    private static final int CAPACITY = 1 << 16;
    private static final int FIRST_MUTABLE = 10;
    private static final int CAPABILITY_AT = 80;

    private final long seed = Seed.next();
    private final Random random = new Random(seed);

    @Test
    void shouldEndAnySignedCommand() throws Exception {
        for (SecurityMethod method : List.of(SecurityMethod.CMDRSP, SecurityMethod.ALLDATA)) {
            int admitted = 0;
            try (var device = new SecuredFixture(method)) {
                device.run(common -> new FormatOsdCommand(common, CAPACITY, 0)).isGood();
                device.withObject();
                for (int i = 0; i < COMMANDS; i++) {
                    try {
                        admitted += run(device) ? 1 : 0;
                    } catch (AssertionError e) {
                        throw new AssertionError("seed " + seed + ", " + method + ", command " + i,
                                e);
                    }
                }
                assertThat(device.partitions()).containsExactly(SecuredFixture.PARTITION);
            }
            assertThat(admitted).as("commands that were admitted").isGreaterThan(COMMANDS / 50);
        }
    }

    private Function<CommonFields, OsdCdb> command() {
        ObjectId object = SecuredFixture.OBJECT;
        return switch (random.nextInt(7)) {
            case 0 -> common -> new ByteRangeCommand(ServiceAction.READ, common, object,
                    random.nextInt(200), random.nextInt(100), 0);
            case 1 -> common -> new ByteRangeCommand(ServiceAction.WRITE, common, object,
                    random.nextInt(200), random.nextInt(100), 0);
            case 2 -> common -> new ByteRangeCommand(ServiceAction.APPEND, common, object, 1, 0, 0);
            case 3 -> common -> new CreateCommand(common,
                    ObjectId.ofPartition(SecuredFixture.PARTITION), 0, 0);
            case 4 -> common -> new ListCommand(ServiceAction.LIST, common,
                    ObjectId.ofPartition(SecuredFixture.PARTITION), random.nextInt(300), 0, 0,
                    false);
            case 5 -> common -> new AttributesCommand(ServiceAction.GET_ATTRIBUTES, common, object,
                    false, 0);
            default -> common -> new ListCommand(ServiceAction.LIST, common, ObjectId.ROOT, 64, 0,
                    0, false);
        };
    }

    private boolean run(SecuredFixture device) {
        byte[] out = new byte[random.nextInt(300)];
        random.nextBytes(out);
        int inOffset = offset();
        int outOffset = offset();
        Function<CommonFields, OsdCdb> make = command();
        SecuredFixture.Sealed sealed = device.seal(make, ListParameters.NONE, out,
                SecuredFixture.nonce(), inOffset, outOffset);
        byte[] cdb = sealed.cdb();
        for (int i = random.nextInt(4); i > 0; i--) {
            int at = FIRST_MUTABLE + random.nextInt(CAPABILITY_AT - FIRST_MUTABLE);
            cdb[at] = (byte) (random.nextInt(3) == 0 ? random.nextInt() : random.nextInt(3));
        }
        sign(device, cdb, sealed);
        Reply reply = device.osd.run(cdb, out, random.nextInt(4) == 0 ? 0 : random.nextInt(2048));
        if (reply.status() == Status.CHECK_CONDITION) {
            assertThat(ObjectIdentification.of(reply.sense())).as(reply.sense().toString())
                    .isPresent();
        }
        return reply.status() == Status.GOOD;
    }

    private static void sign(SecuredFixture device, byte[] cdb, SecuredFixture.Sealed sealed) {
        Capability capability = Capability.decode(
                MemorySegment.ofArray(cdb).asSlice(CAPABILITY_AT),
                OsdVersion.OSD_2);
        device.sign(cdb, sealed.key(), capability);
    }

    private int offset() {
        return switch (random.nextInt(4)) {
            case 0 -> -1;
            case 1 -> random.nextInt();
            default -> 0xb000_0000 | random.nextInt(40);
        };
    }
}
