package lunar.initiator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import lunar.block.AbortedException;
import lunar.block.InvalidRequestException;
import lunar.block.MediumException;
import lunar.block.StorageException;
import lunar.initiator.scsi.Copies;
import lunar.initiator.scsi.ScsiUnit;
import lunar.iscsi.pdu.Residual;
import lunar.iscsi.pdu.ScsiCommand;
import lunar.iscsi.pdu.ScsiResponse;
import lunar.scsi.AdditionalSense;
import lunar.scsi.Bytes;
import lunar.scsi.Lun;
import lunar.scsi.Sense;
import lunar.scsi.SenseKey;
import lunar.scsi.SenseSpecific;
import lunar.scsi.Status;
import lunar.scsi.block.Sanitize;
import lunar.scsi.block.UnmapParameterList.Range;
import lunar.scsi.copy.BlockRange;
import lunar.scsi.mode.CachingModePage;
import lunar.scsi.mode.ModeSelect;
import lunar.scsi.mode.ModeSense;
import lunar.scsi.primary.RequestSense;
import lunar.scsi.primary.TestUnitReady;
import lunar.scsi.reservation.PersistentReserveIn;
import lunar.scsi.reservation.ReservationType;
import lunar.scsi.vpd.BlockLimits;
import lunar.scsi.vpd.Inquiry;
import lunar.testkit.ScriptedPeer;
import lunar.testkit.Seed;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests the bytes that calls of an application send, and the handling of implausible responses. */
@Timeout(240)
class ScsiUnitTest {
    private static final Sense CHANGED = Sense.of(SenseKey.UNIT_ATTENTION,
            AdditionalSense.MODE_PARAMETERS_CHANGED);

    /** A call, of whatever result. */
    @FunctionalInterface
    private interface Call {
        void on(ScsiUnit unit) throws StorageException;
    }

    private static void onUnit(ScriptedDisk.Hook hook, Call call) throws Exception {
        try (var loopback = Loopback.disk(hook); Session session = loopback.login()) {
            call.on(ScsiUnit.of(session, Lun.ZERO));
        }
    }

    /** Returns CDB and data-out that a call sends to a target that accepts everything. */
    private static String sent(Call call) throws Exception {
        var sent = new ConcurrentLinkedQueue<String>();
        onUnit((peer, command, cdb) -> {
            if (command.expectedDataTransferBytes() > 0 && !command.write()) {
                return false;
            }
            byte[] data = peer.data();
            sent.add((Bytes.of(command.cdb().asSlice(0, cdb.length())) + " "
                    + Bytes.of(data)).strip());
            ScriptedDisk.status(peer, command, Status.GOOD);
            return true;
        }, call);
        return String.join(" + ", sent);
    }

    @Test
    void shouldSendWhatTheStandardSays() throws Exception {
        assertThat(sent(unit -> unit.reservations().register(0xbeef)))
                .isEqualTo("5f000000000000001800 " + "0".repeat(28) + "beef" + "0".repeat(16));
        assertThat(sent(unit -> unit.reservations().preemptAndAbort(1, 2,
                ReservationType.EXCLUSIVE_ACCESS)))
                .isEqualTo("5f050300000000001800 " + "0000000000000001" + "0000000000000002"
                        + "0".repeat(16));
        assertThat(sent(unit -> unit.blocks()
                .unmap(List.of(new Range(16, 4), new Range(0x1_0000_0000L, 1)), true)))
                .isEqualTo("42010000000000002800 0026002000000000"
                        + "00000000000000100000000400000000"
                        + "00000001000000000000000100000000");
        assertThat(sent(unit -> unit.blocks().writeZeroes(5, 7, true)))
                .isEqualTo("93090000000000000005000000070000");
        assertThat(sent(unit -> unit.blocks().verify(0xffff_fff0L, 0x1_0000)))
                .isEqualTo("8f0000000000fffffff0000100000000");
        assertThat(sent(unit -> unit.erasures().exitFailureMode()))
                .isEqualTo("481f0000000000000000");
        assertThat(sent(unit -> unit.logs().reset())).isEqualTo("4c02c000000000000000");
        assertThat(sent(unit -> unit.maintenance().eject())).isEqualTo("1b0000000200");
    }

    @Test
    void shouldCutUnmapsToTheLimitsOfTheUnit() throws Exception {
        var lists = new ConcurrentLinkedQueue<String>();
        var limits = new BlockLimits(false, 0, 0, 0, 0, 0, 10, 2, 0,
                OptionalLong.empty(), 0, 0);
        onUnit((peer, command, cdb) -> {
            if (cdb instanceof Inquiry inquiry && inquiry.evpd()) {
                answer(peer, command, limits.bytes());
                return true;
            }
            if (command.write()) {
                byte[] list = peer.data();
                for (int at = 8; at < list.length; at += 16) {
                    lists.add(list[at + 7] + ":" + list[at + 11] + (at == 8 ? " first" : ""));
                }
                ScriptedDisk.status(peer, command, Status.GOOD);
                return true;
            }
            return false;
        }, unit -> unit.blocks().unmap(List.of(new Range(0, 1), new Range(2, 1), new Range(4, 25),
                new Range(50, 0), new Range(60, 3)), false));
        assertThat(lists).containsExactly("0:1 first", "2:1", "4:10 first", "14:10 first",
                "24:5 first", "60:3");
    }

    // --- attentions ---

    @Test
    void shouldRetryAfterUnitAttentionsAFewTimes() throws Exception {
        var asked = new AtomicInteger();
        onUnit((peer, command, cdb) -> {
            if (cdb instanceof TestUnitReady && asked.incrementAndGet() <= 5) {
                ScriptedDisk.sense(peer, command, CHANGED);
                return true;
            }
            return false;
        }, ScsiUnit::requireReady);
        assertThat(asked).hasValue(6);

        onUnit((peer, command, _) -> {
            ScriptedDisk.sense(peer, command, CHANGED);
            return true;
        }, unit -> assertThatThrownBy(unit::requireReady).isInstanceOf(AbortedException.class)
                .hasCauseInstanceOf(SenseException.class));
    }

    @Test
    void shouldReadAModePageAgainAfterAnotherHostChangedIt() throws Exception {
        var reads = new AtomicInteger();
        var selects = new ArrayList<String>();
        onUnit((peer, command, cdb) -> {
            if (cdb instanceof ModeSense) {
                // Another host switches the write cache on between the first read and the select.
                byte[] page = CachingModePage.of(reads.incrementAndGet() > 1).bytes();
                byte[] data = new byte[8 + page.length];
                data[1] = (byte) (data.length - 2);
                System.arraycopy(page, 0, data, 8, page.length);
                answer(peer, command, data);
                return true;
            }
            if (cdb instanceof ModeSelect) {
                selects.add(Bytes.of(Arrays.copyOf(peer.data(), 12)).toString());
                if (selects.size() == 1) {
                    ScriptedDisk.sense(peer, command, CHANGED);
                } else {
                    ScriptedDisk.status(peer, command, Status.GOOD);
                }
                return true;
            }
            return false;
        }, unit -> unit.modes().change(CachingModePage.CODE, 0, page -> page.withParameters(
                page.parameters().with(0, page.parameters().at(0) | 1)), true));
        assertThat(selects).containsExactly("00000000000000000812" + "0100",
                "00000000000000000812" + "0500");
    }

    @Test
    void shouldCarryTheSenseDataOfARejection() throws Exception {
        onUnit((peer, command, cdb) -> {
            if (cdb instanceof TestUnitReady) {
                ScriptedDisk.sense(peer, command, Sense.invalidFieldInCdb(3, 5));
                return true;
            }
            return false;
        }, unit -> assertThatThrownBy(unit::requireReady)
                .isInstanceOfSatisfying(InvalidRequestException.class,
                        e -> assertThat(SenseException.of(e))
                                .contains(Sense.invalidFieldInCdb(3, 5))));
    }

    @Test
    void shouldReportHowFarAnErasureIsAndHowItEnds() throws Exception {
        for (boolean fails : new boolean[]{false, true}) {
            var asked = new AtomicInteger();
            var progress = new ArrayList<Double>();
            Call erase = unit -> unit.erasures().blockErase(false, progress::add);
            onUnit((peer, command, cdb) -> {
                switch (cdb) {
                    case Sanitize sanitize -> {
                        assertThat(sanitize.immediate()).isTrue();
                        ScriptedDisk.status(peer, command, Status.GOOD);
                    }
                    case RequestSense _ -> {
                        int done = 0x4000 * asked.incrementAndGet();
                        Sense running = Sense
                                .of(SenseKey.NOT_READY, AdditionalSense.SANITIZE_IN_PROGRESS)
                                .withSpecific(new SenseSpecific.Progress(done & 0xffff));
                        answer(peer, command,
                                (done < 0x10000 ? running : Sense.NONE).encodeFixed());
                    }
                    case TestUnitReady _ when fails -> ScriptedDisk.sense(peer, command, Sense.of(
                            SenseKey.MEDIUM_ERROR, AdditionalSense.SANITIZE_COMMAND_FAILED));
                    default -> {
                        return false;
                    }
                }
                return true;
            }, fails
                    ? unit -> assertThatThrownBy(() -> erase.on(unit))
                            .isInstanceOf(MediumException.class)
                    : erase);
            assertThat(progress).startsWith(0.0, 0.25, 0.5, 0.75).hasSize(fails ? 4 : 5);
        }
    }

    // --- answers ---

    private static void answer(ScriptedPeer peer, ScsiCommand command, byte[] data)
            throws IOException {
        int most = command.expectedDataTransferBytes();
        if (data.length == 0 || most == 0) {
            peer.send(new ScsiResponse(ScsiResponse.COMPLETED, Status.GOOD.code(), 0,
                    Residual.of(most, 0), Residual.NONE, command.itt(), 0, peer.statSn(),
                    peer.expCmdSn(), peer.maxCmdSn(), 0));
        } else {
            ScriptedDisk.dataIn(peer, command, Arrays.copyOf(data, Math.min(data.length, most)));
        }
    }

    @Test
    void shouldRequestTruncatedDataAgain() throws Exception {
        var lengths = new ArrayList<Integer>();
        byte[] keys = new byte[8 + 8 * 1000];
        keys[6] = (byte) (8000 >> 8);
        keys[7] = (byte) (8000 & 0xff);
        keys[keys.length - 1] = 42;
        onUnit((peer, command, cdb) -> {
            if (cdb instanceof PersistentReserveIn in) {
                lengths.add(in.allocationLength());
                answer(peer, command, keys);
                return true;
            }
            return false;
        }, unit -> assertThat(unit.reservations().keys().keys()).hasSize(1000).endsWith(42L));
        assertThat(lengths).containsExactly(1024, 8008);
    }

    @Test
    void shouldRejectImpossibleLengths() throws Exception {
        for (String header : List.of("00000000ffffffff", "000000007fffffff", "0000000000000400",
                "000000", "")) {
            onUnit((peer, command, cdb) -> {
                if (cdb instanceof PersistentReserveIn) {
                    answer(peer, command, Bytes.ofHex(header).toArray());
                    return true;
                }
                return false;
            }, unit -> assertThatThrownBy(unit.reservations()::keys).as(header)
                    .isInstanceOf(MediumException.class).hasMessageContaining("invalid response"));
        }
    }

    private static Map<String, Call> readers() {
        var calls = new LinkedHashMap<String, Call>();
        calls.put("standard", unit -> unit.inquiry().standard());
        calls.put("pages", unit -> unit.inquiry().pages());
        for (int code : new int[]{0x80, 0x83, 0x86, 0x87, 0x88, 0x8f, 0xb0, 0xb1, 0xb2, 0xb3}) {
            calls.put("page " + code, unit -> unit.inquiry().page(code));
        }
        calls.put("identity", ScsiUnit::identity);
        calls.put("capacity", ScsiUnit::capacity);
        calls.put("luns", unit -> unit.luns(0));
        calls.put("sense", ScsiUnit::requestSense);
        calls.put("modes", unit -> unit.modes().all(ModeSense.PageControl.CURRENT));
        calls.put("mode page", unit -> unit.modes().page(8));
        calls.put("log", unit -> unit.logs().page(2));
        calls.put("logs", unit -> unit.logs().pages());
        calls.put("keys", unit -> unit.reservations().keys());
        calls.put("reservation", unit -> unit.reservations().reservation());
        calls.put("full status", unit -> unit.reservations().fullStatus());
        calls.put("capabilities", unit -> unit.reservations().capabilities());
        calls.put("lba status", unit -> unit.blocks().status(0, 16));
        calls.put("port groups", unit -> unit.portGroups().report());
        calls.put("own group", unit -> unit.portGroups().own());
        calls.put("commands", unit -> unit.commands().all());
        calls.put("command", unit -> unit.commands().one(0x28));
        calls.put("functions", unit -> unit.commands().taskManagement());
        calls.put("copy parameters", unit -> unit.copies().parameters());
        calls.put("token", unit -> unit.copies().populateToken(List.of(new BlockRange(0, 1)), 0));
        calls.put("offload", unit -> unit.copies().offload(unit, new Copies.Segment(0, 8, 1),
                _ -> {}));
        calls.put("clock", unit -> unit.maintenance().clock());
        calls.put("label", unit -> unit.maintenance().label());
        return calls;
    }

    /** Answers at random, some of them with lengths that nearly make sense. */
    private static byte[] nonsense(Random random) {
        byte[] data = new byte[random.nextInt(4) == 0 ? random.nextInt(8) : random.nextInt(600)];
        random.nextBytes(data);
        for (int i = 0; i < Math.min(8, data.length); i++) {
            if (random.nextBoolean()) {
                data[i] = 0;
            }
        }
        return data;
    }

    @Test
    void shouldFailOnMalformedDataWithStorageExceptionOnly() throws Exception {
        long seed = Seed.next();
        var random = new Random(seed);
        Call all = unit -> {
            for (Map.Entry<String, Call> each : readers().entrySet()) {
                for (int i = 0; i < 40; i++) {
                    try {
                        each.getValue().on(unit);
                    } catch (StorageException _) {
                        // as it should be
                    } catch (RuntimeException e) {
                        throw new AssertionError(each.getKey() + ", seed " + seed, e);
                    }
                }
            }
            assertThat(unit.session().isOpen()).as("the data are wrong, not the session").isTrue();
        };
        onUnit((peer, command, _) -> {
            if (command.write() || command.expectedDataTransferBytes() == 0) {
                ScriptedDisk.status(peer, command, Status.GOOD);
            } else {
                answer(peer, command, nonsense(random));
            }
            return true;
        }, all);
    }

    @Test
    void shouldReadPagesThatAreCutInAnyPlace() throws Exception {
        byte[] whole = Bytes.ofHex("0083 0018 0103 0008 6001 4050 1122 3344"
                + "0094 0004 0000 0001 0095 0004").toArray();
        for (int length = 0; length < whole.length; length++) {
            byte[] cut = Arrays.copyOf(whole, length);
            onUnit((peer, command, cdb) -> {
                if (cdb instanceof Inquiry) {
                    answer(peer, command, cut);
                    return true;
                }
                return false;
            }, unit -> assertThatThrownBy(() -> unit.inquiry().page(0x83))
                    .isInstanceOf(MediumException.class));
        }
    }

    @Test
    void shouldRejectWaitingOrSendingBeyondTheLimits() throws Exception {
        onUnit((_, _, _) -> false, unit -> {
            assertThatThrownBy(() -> unit.blocks().orWrite(0,
                    MemorySegment.ofArray(new byte[100])))
                    .isInstanceOf(InvalidRequestException.class);
            assertThatThrownBy(() -> unit.blocks().compareAndWrite(0, Loopback.blocks(256),
                    Loopback.blocks(256))).isInstanceOf(InvalidRequestException.class);
            assertThatThrownBy(() -> unit.execute(new byte[5], MemorySegment.NULL,
                    MemorySegment.NULL)).isInstanceOf(InvalidRequestException.class);
        });
    }
}
