package lunar.target;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import lunar.iscsi.pdu.Bhs;
import lunar.iscsi.pdu.TaskManagementFunction;
import lunar.scsi.Bytes;
import lunar.scsi.Lun;
import lunar.scsi.Status;
import lunar.testkit.echo.AddCdb;
import lunar.testkit.echo.EchoCdb;
import lunar.testkit.echo.EchoSpec;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Tests a logical unit of another device type beside a disk: it has its own commands, pages and access rules, and has
 * unit attentions, reservations and port groups like any other.
 */
@Timeout(600)
class OtherDeviceTypeTest {
    private static final Lun ECHO = Lun.of(1);
    private static final String TEST_UNIT_READY = "00 00 00 00 00 00";
    private static final byte[] ADD = new AddCdb(Bytes.of(new byte[]{1, 2, 3, 4})).bytes();
    private static final String KEY = "11 22 33 44 55 66 77 88";

    private TargetFixture target;

    @BeforeEach
    void serve() throws Exception {
        target = new TargetFixture();
        var _ = target.server.update(target.server.spec(RawInitiator.TARGET).orElseThrow()
                .withLun(1, EchoSpec.of("echo-1")));
    }

    @AfterEach
    void close() throws Exception { target.close(); }

    private RawInitiator initiator(int qualifier) throws Exception {
        RawInitiator initiator = target.ready(qualifier);
        while (status(initiator, TEST_UNIT_READY) == Status.CHECK_CONDITION) { // power on
        }
        return initiator;
    }

    private static Status status(RawInitiator initiator, String cdb) throws Exception {
        return initiator.command(ECHO, RawInitiator.bytes(cdb), 0).status();
    }

    private static byte[] data(RawInitiator initiator, String cdb, int bytes) throws Exception {
        return initiator.command(ECHO, RawInitiator.bytes(cdb), bytes).data();
    }

    private static Status statusOut(RawInitiator initiator, String cdb, String data)
            throws Exception {
        initiator.send(ECHO, RawInitiator.bytes(cdb), RawInitiator.bytes(data), 0);
        return initiator.receive().status();
    }

    private static void reset(RawInitiator initiator) throws Exception {
        int itt = initiator.manage(TaskManagementFunction.LOGICAL_UNIT_RESET, ECHO, Bhs.NO_TAG,
                initiator.cmdSn(), 0);
        assertThat(initiator.managed(itt)).isZero();
    }

    @Test
    void shouldReportItsTypeNamesAndPages() throws Exception {
        try (RawInitiator initiator = initiator(1)) {
            byte[] inquiry = data(initiator, "12 00 00 00 60 00", 96);
            assertThat(inquiry[0]).as("device type").isEqualTo((byte) 3);
            assertThat(new String(inquiry, 8, 28, StandardCharsets.US_ASCII))
                    .isEqualTo("LUNAR   ECHO            0.1 ");
            assertThat(inquiry[5] & 0x30).as("TPGS").isEqualTo(0x30);
            byte[] pages = data(initiator, "12 01 00 00 ff 00", 255);
            assertThat(HexFormat.of().formatHex(pages)).as("supported pages")
                    .isEqualTo("0300" + "0005" + "00808388c1");
            byte[] own = data(initiator, "12 01 c1 00 ff 00", 255);
            assertThat(new String(own, 4, own.length - 4, StandardCharsets.US_ASCII))
                    .isEqualTo("resets 0");
        }
    }

    @Test
    void shouldSupportItsOwnCommandsAndNoneOfADisk() throws Exception {
        try (RawInitiator initiator = initiator(1)) {
            assertThat(initiator.command(ECHO,
                    RawInitiator.bytes("28 00 00 00 00 00 00 00 00 00"), 0).sense())
                    .as("READ(10)").isEqualTo(0x05_20_00);
            byte[] all = data(initiator, "a3 0c 00 00 00 00 00 00 10 00 00 00", 4096);
            assertThat(opcodes(all)).contains(EchoCdb.OPCODE, AddCdb.OPCODE, 0x12, 0x5e, 0x5f)
                    .doesNotContain(0x28, 0x2a);
            byte[] one = data(initiator, "a3 0c 02 7f f0 01 00 00 10 00 00 00", 4096);
            assertThat(one[1] & 7).as("supported").isEqualTo(3);
        }
    }

    private static int[] opcodes(byte[] descriptors) {
        var found = new ArrayList<Integer>();
        for (int at = 4; at + 8 <= descriptors.length; at += 8) {
            found.add(descriptors[at] & 0xff);
        }
        return found.stream().mapToInt(Integer::intValue).toArray();
    }

    /** ECHO reads and ADD writes: a reservation for writers of another nexus stops one of them. */
    @Test
    void shouldRespectReservationsByItsOwnAccessRules() throws Exception {
        try (RawInitiator holder = initiator(1);
                RawInitiator other = initiator(2);
                WirePeer peer = WirePeer.loggedIn(target.server, 0)) {
            assertThat(statusOut(holder, "5f 00 00 00 00 00 00 00 18 00",
                    "00 00 00 00 00 00 00 00 " + KEY + " 00".repeat(8))).isEqualTo(Status.GOOD);
            assertThat(statusOut(holder, "5f 01 01 00 00 00 00 00 18 00",
                    KEY + " 00".repeat(16))).as("write exclusive").isEqualTo(Status.GOOD);
            peer.lun = 1;
            peer.takeAttentions();
            assertThat(response(peer, new EchoCdb().bytes()).status())
                    .isEqualTo(Status.GOOD.code());
            assertThat(response(peer, ADD).status()).isEqualTo(Status.RESERVATION_CONFLICT.code());
            assertThat(status(other, TEST_UNIT_READY)).isEqualTo(Status.GOOD);
        }
    }

    /** The response to a bidirectional command of four bytes, whichever data come before it. */
    private static WirePeer.Pdu response(WirePeer peer, byte[] cdb) throws Exception {
        int itt = peer.bidirectional(cdb, 4, 4);
        WirePeer.Pdu pdu = peer.take();
        while (pdu.opcode() != 0x21) {
            if (pdu.opcode() == 0x31) {
                peer.answer(pdu, new byte[4]);
            }
            pdu = peer.take();
        }
        assertThat(pdu.itt()).isEqualTo(itt);
        return pdu;
    }

    @Test
    void shouldBeResetAndReportEveryNexus() throws Exception {
        try (RawInitiator one = initiator(1); RawInitiator other = initiator(2)) {
            reset(one);
            assertThat(other.command(ECHO, RawInitiator.bytes(TEST_UNIT_READY), 0).sense())
                    .as("unit attention").isEqualTo(0x06_29_03);
            assertThat(status(other, TEST_UNIT_READY)).isEqualTo(Status.GOOD);
            byte[] own = data(other, "12 01 c1 00 ff 00", 255);
            assertThat(new String(own, 4, own.length - 4, StandardCharsets.US_ASCII))
                    .isEqualTo("resets 1");
        }
    }

    @Test
    void shouldHaveModePagesOfItsOwn() throws Exception {
        try (RawInitiator one = initiator(1); RawInitiator other = initiator(2)) {
            byte[] pages = data(one, "1a 08 3f 00 ff 00", 255);
            assertThat(pages[4] & 0x3f).as("Control page and nothing else").isEqualTo(0x0a);
            assertThat(pages).hasSize(4 + 12);
            byte[] changed = Arrays.copyOf(pages, pages.length);
            changed[0] = 0;
            changed[4] &= 0x3f;
            changed[6] |= 4; // D_SENSE
            assertThat(statusOut(one, "15 10 00 00 10 00", HexFormat.of().formatHex(changed)))
                    .isEqualTo(Status.GOOD);
            assertThat(other.command(ECHO, RawInitiator.bytes(TEST_UNIT_READY), 0).data()[2])
                    .as("descriptor format").isEqualTo((byte) 0x72);
        }
    }

    @Test
    void shouldShareItsStateAtTwoLuns() throws Exception {
        var echo = EchoSpec.of("echo-2");
        var _ = target.server.update(TargetSpec.of(RawInitiator.TARGET).withLun(1, echo)
                .withLun(2, echo));
        try (RawInitiator initiator = initiator(1)) {
            reset(initiator);
            byte[] own = initiator.command(Lun.of(2), RawInitiator.bytes("12 01 c1 00 ff 00"), 255)
                    .data();
            assertThat(new String(own, 4, own.length - 4, StandardCharsets.US_ASCII))
                    .isEqualTo("resets 1");
        }
    }

    /** The access of its commands determines which of them a read-only initiator may send. */
    @Test
    void shouldPermitReadersToReadOnly() throws Exception {
        TargetSpec spec = target.server.spec(RawInitiator.TARGET).orElseThrow();
        var _ = target.server.update(
                spec.withInitiator(InitiatorSpec.of(RawInitiator.NAME).withReadOnly(true)));
        try (WirePeer peer = WirePeer.loggedIn(target.server, 0)) {
            peer.lun = 1;
            peer.takeAttentions();
            assertThat(response(peer, new EchoCdb().bytes()).status())
                    .isEqualTo(Status.GOOD.code());
            WirePeer.Pdu refused = response(peer, ADD);
            assertThat(refused.data()[4] & 0xf).as("DATA PROTECT").isEqualTo(7);
        }
    }

    /** In the standby state a command passes only if it says so: those of all types do, its own do not. */
    @Test
    void shouldRespectStatesOfPortGroups() throws Exception {
        try (WirePeer peer = WirePeer.loggedIn(target.server, 0);
                RawInitiator initiator = initiator(1)) {
            peer.lun = 1;
            peer.takeAttentions();
            assertThat(statusOut(initiator, "a4 0a 00 00 00 00 00 00 00 08 00 00",
                    "00 00 00 00 02 00 00 01")).isEqualTo(Status.GOOD);
            peer.isGood(peer.command(0, new byte[6], 0, new byte[0], true)); // the change of the state
            assertThat(sense(response(peer, new EchoCdb().bytes()))).isEqualTo(0x02_04_0b);
            assertThat(status(initiator, "1a 08 3f 00 ff 00")).as("MODE SENSE(6)")
                    .isNotEqualTo(Status.CHECK_CONDITION);
        }
    }

    private static int sense(WirePeer.Pdu response) {
        byte[] data = response.data();
        return (data[4] & 0xf) << 16 | (data[14] & 0xff) << 8 | data[15] & 0xff;
    }
}
