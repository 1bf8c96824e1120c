package lunar.target;

import static lunar.iscsi.pdu.TaskManagementResponseCode.FUNCTION_COMPLETE;
import static lunar.target.TargetFixture.blocks;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import lunar.iscsi.pdu.ScsiCommand;
import lunar.iscsi.pdu.TaskAttribute;
import lunar.iscsi.pdu.TaskManagementFunction;
import lunar.scsi.Lun;
import lunar.scsi.Status;
import org.junit.jupiter.api.Test;

/** Tests the order in which commands start, by their task attributes (SAM-5 section 8.6). */
class TargetTaskAttributesTest {
    private static final byte[] TEST_UNIT_READY = new byte[6];
    private static final int INVALID_MESSAGE = 0x05_49_00;

    @Test
    void shouldBeginOrderedAfterAllBeforeItAndOthersAfterIt() throws Exception {
        try (var target = new TargetFixture(); var initiator = target.ready(1)) {
            target.device.shut(2);
            int first = initiator.write(0, blocks(1, 1));
            int second = initiator.write(1, blocks(1, 1));
            target.device.awaitArrivals();
            int ordered = send(initiator, TaskAttribute.ORDERED);
            int after = send(initiator, TaskAttribute.SIMPLE);
            int nextOrdered = send(initiator, TaskAttribute.ORDERED);
            int last = send(initiator, TaskAttribute.UNTAGGED);
            initiator.assertSilent();
            target.device.open();

            for (int itt : new int[]{first, second, ordered, after, nextOrdered, last}) {
                assertGood(initiator, itt);
            }
        }
    }

    @Test
    void shouldNotBeginSimpleWhileOrderedWaitsForItsData() throws Exception {
        try (var target = new TargetFixture();
                var initiator = target.ready(1, "ImmediateData=No", "InitialR2T=Yes")) {
            int write = initiator.newTag();
            initiator.send(new ScsiCommand(false, true, false, true,
                    TaskAttribute.ORDERED, 0, Lun.ZERO, write, 512, initiator.useCmdSn(), 0,
                    MemorySegment.ofArray(RawInitiator.writeCdb(0, 1)), 0),
                    new byte[0]);
            RawInitiator.Received r2t = initiator.receive();
            int read = send(initiator, TaskAttribute.SIMPLE);
            initiator.assertSilent();

            initiator.dataOut(write, r2t.bhs().ttt(), 0, 0, true, blocks(1, 3));

            assertGood(initiator, write);
            assertGood(initiator, read);
        }
    }

    @Test
    void shouldBeginHeadOfQueueAtOnce() throws Exception {
        try (var target = new TargetFixture(); var initiator = target.ready(1)) {
            target.device.shut(1);
            int simple = initiator.write(0, blocks(1, 1));
            target.device.awaitArrivals();
            int ordered = send(initiator, TaskAttribute.ORDERED);
            initiator.assertSilent();

            assertGood(initiator, send(initiator, TaskAttribute.HEAD_OF_QUEUE));
            target.device.open();

            assertGood(initiator, simple);
            assertGood(initiator, ordered);
        }
    }

    @Test
    void shouldBeginNothingWhileHeadOfQueueRuns() throws Exception {
        try (var target = new TargetFixture(); var initiator = target.ready(1)) {
            target.device.shut(1);
            int head = initiator.send(Lun.ZERO, TaskAttribute.HEAD_OF_QUEUE, 0,
                    RawInitiator.readCdb(0, 1), 512);
            target.device.awaitArrivals();
            int simple = send(initiator, TaskAttribute.SIMPLE);
            initiator.assertSilent();
            target.device.open();

            assertThat(initiator.receive().bhs().itt()).isEqualTo(head);
            assertGood(initiator, simple);
        }
    }

    @Test
    void shouldAbortWaitingTaskAtOnceAndRunLaterTasks() throws Exception {
        try (var target = new TargetFixture(); var initiator = target.ready(1)) {
            target.device.shut(1);
            int first = initiator.write(0, blocks(1, 1));
            target.device.awaitArrivals();
            int ordered = send(initiator, TaskAttribute.ORDERED);
            int last = send(initiator, TaskAttribute.SIMPLE);

            int abort = initiator.manage(TaskManagementFunction.ABORT_TASK, ordered);
            assertThat(initiator.managed(abort)).isEqualTo(FUNCTION_COMPLETE.code());
            initiator.assertSilent();
            target.device.open();

            assertGood(initiator, first);
            assertGood(initiator, last);
        }
    }

    @Test
    void shouldBeginWaitingTasksByPriorityWhereTheLevelHasIt() throws Exception {
        try (var target = new TargetFixture();
                var initiator = target.ready(1, "iSCSIProtocolLevel=2");
                var older = target.ready(2)) {
            assertOrderByPriority(target, initiator, 0, 2, 3, 1);
            assertOrderByPriority(target, older, 0, 1, 2, 3);
        }
    }

    private static void assertOrderByPriority(TargetFixture target, RawInitiator initiator,
            int... order) throws Exception {
        target.device.shut(1);
        int[] tags = new int[4];
        tags[0] = initiator.send(Lun.ZERO, TaskAttribute.ORDERED, 0, RawInitiator.readCdb(0, 1),
                512);
        target.device.awaitArrivals();
        tags[1] = initiator.send(Lun.ZERO, TaskAttribute.SIMPLE, 0, TEST_UNIT_READY, 0);
        tags[2] = initiator.send(Lun.ZERO, TaskAttribute.SIMPLE, 1, TEST_UNIT_READY, 0);
        tags[3] = initiator.send(Lun.ZERO, TaskAttribute.SIMPLE, 15, TEST_UNIT_READY, 0);
        initiator.assertSilent();
        target.device.open();
        for (int each : order) {
            assertThat(initiator.receive().bhs().itt()).isEqualTo(tags[each]);
        }
    }

    @Test
    void shouldRejectAcaAttribute() throws Exception {
        try (var target = new TargetFixture(); var initiator = target.ready(1)) {
            send(initiator, TaskAttribute.ACA);

            assertThat(initiator.receive().sense()).isEqualTo(INVALID_MESSAGE);
        }
    }

    private static int send(RawInitiator initiator, TaskAttribute attribute) throws IOException {
        return initiator.send(Lun.ZERO, attribute, 0, TEST_UNIT_READY, 0);
    }

    private static void assertGood(RawInitiator initiator, int itt) throws IOException {
        RawInitiator.Received answer = initiator.receive();
        assertThat(answer.bhs().itt()).isEqualTo(itt);
        assertThat(answer.status()).isEqualTo(Status.GOOD);
    }
}
