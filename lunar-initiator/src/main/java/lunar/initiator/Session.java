package lunar.initiator;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import lunar.block.DeviceGoneException;
import lunar.block.InvalidRequestException;
import lunar.block.StorageException;
import lunar.iscsi.Bhs;
import lunar.iscsi.CommandNumbering;
import lunar.iscsi.DiscoveredTarget;
import lunar.iscsi.InitiatorText;
import lunar.iscsi.LoginLimits;
import lunar.iscsi.LoginResult;
import lunar.iscsi.OperationalParameters;
import lunar.iscsi.ProtocolException;
import lunar.iscsi.ScsiResponse;
import lunar.iscsi.SendTargets;
import lunar.iscsi.TargetAddress;
import lunar.iscsi.TargetPdu;
import lunar.iscsi.TextRequest;
import lunar.iscsi.TextResponse;
import lunar.iscsi.TextTurn;
import lunar.scsi.Lun;
import lunar.scsi.LunList;
import lunar.scsi.MalformedDataException;
import lunar.scsi.ReportLuns;

/**
 * A session with a target: opens its LUNs, and passes commands through to them. May be used by any thread.
 *
 * <p>Closing it logs out. Commands that are then still at the target end with {@link DeviceGoneException}, as does
 * everything afterwards. A session whose connection is lost stays lost: whoever wants another logs in again.
 */
public final class Session implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger("lunar.initiator");

    /** How long, beyond the logout, the transport may take to let go of the data of aborted commands. */
    private static final long RELEASE_MS = 5_000;
    private static final int FIRST_LUN_LIST_BYTES = 4096;
    private static final int MAX_LUN_LIST_BYTES = 8 + 8 * 16_384;

    private final Connection connection;
    private final Tasks tasks;
    private final Control control;
    private final SessionOptions options;
    private final LoginResult result;
    private final Consumer<Session> whenClosed;
    private final Bounces bounces = new Bounces();
    private final AtomicBoolean closing = new AtomicBoolean();

    /** Made on the loop's thread by the last step of the login. */
    Session(Connection connection, LoginResult result, CommandNumbering numbering,
            SessionOptions options, Consumer<Session> whenClosed) {
        this.connection = connection;
        this.options = options;
        this.result = result;
        this.whenClosed = whenClosed;
        tasks = new Tasks(connection, result.parameters(), numbering, targetName(),
                options.queueDepth(), options.timeouts().commandMs());
        control = new Control(connection, tasks, options.timeouts(), targetName());
        connection.enter(new FullFeature(connection, tasks, control));
        control.start();
    }

    /** The target's iSCSI name; "discovery" in a discovery session. */
    public String targetName() {
        return result.targetName().orElse("discovery");
    }

    /** Where the target is: after redirections another portal than was asked for. */
    public TargetAddress portal() {
        return options.portal();
    }

    /** What was negotiated. */
    public OperationalParameters parameters() {
        return result.parameters();
    }

    /** How the login ended. */
    public LoginResult loginResult() { return result; }

    /** With what options the session was made. */
    public SessionOptions options() {
        return options;
    }

    /** Whether the session takes commands: neither closed nor lost. */
    public boolean isOpen() {
        return !closing.get() && control.isOpen();
    }

    /** Runs something when the session has ended, in whatever way; on a loop, where it must not block. */
    public void onEnd(Runnable what) {
        var _ = control.over().thenRun(what);
    }

    Tasks tasks() { return tasks; }

    Connection connection() { return connection; }

    Bounces bounces() { return bounces; }

    /**
     * Opens a LUN that is a disk. Closing it leaves the session open.
     *
     * @throws StorageException when there is no such LUN, or it is no disk, or it does not answer
     */
    public LunDevice open(Lun lun) throws StorageException { return open(lun, () -> {}); }

    /** Opens a LUN, and says what else is to be closed with it. */
    LunDevice open(Lun lun, Runnable whenDeviceClosed) throws StorageException {
        return new LunDevice(this, lun, LunProbe.probe(this, lun), whenDeviceClosed);
    }

    /** The LUNs there are, of whatever kind (REPORT LUNS). */
    public List<Lun> luns() throws StorageException {
        var probe = new LunProbe(this, Lun.ZERO);
        try {
            MemorySegment list = probe.ask(new ReportLuns(0, FIRST_LUN_LIST_BYTES),
                    FIRST_LUN_LIST_BYTES);
            long length = LunList.fullLength(list);
            if (length > FIRST_LUN_LIST_BYTES) {
                int bytes = (int) Math.min(length, MAX_LUN_LIST_BYTES);
                list = probe.ask(new ReportLuns(0, bytes), bytes);
            }
            return LunList.decode(list).luns();
        } catch (MalformedDataException e) {
            throw new DeviceGoneException(targetName() + " answers REPORT LUNS with nonsense: "
                    + e.getMessage(), e);
        }
    }

    /**
     * Passes a command through. Its status, whatever it is, is the caller's to judge; nothing is retried.
     *
     * @param cdb 6 to 260 bytes
     * @param dataIn where data from the target go; {@link MemorySegment#NULL} for none
     * @param dataOut data for the target; {@link MemorySegment#NULL} for none
     * @throws StorageException when the command did not come to its end: timeout, session gone
     */
    public ScsiResult execute(Lun lun, byte[] cdb, MemorySegment dataIn, MemorySegment dataOut)
            throws StorageException {
        if (cdb.length < 6 || cdb.length > Command.MAX_CDB_BYTES) {
            throw new InvalidRequestException("a CDB of " + cdb.length + " bytes");
        }
        refuseOnLoop();
        MemorySegment in = bounces.into(dataIn);
        MemorySegment out = bounces.outOf(dataOut);
        Command command = tasks.take();
        try {
            command.prepare(lun.value(), in, out, Command::wake);
            command.cdb.fill((byte) 0);
            MemorySegment.copy(MemorySegment.ofArray(cdb), 0, command.cdb, 0, cdb.length);
            command.cdbLength = cdb.length;
            command.waiter = Thread.currentThread();
            tasks.submit(command);
            command.await();
            StorageException failure = command.failure;
            if (failure != null) {
                throw failure;
            }
            if (command.response != ScsiResponse.COMPLETED) {
                throw SenseMapping.targetFailure(command.response, tasks.describe(command));
            }
            Bounces.copyBack(in, dataIn);
            return new ScsiResult(command.status, command.sense, command.residual,
                    command.bidirectionalReadResidual, command.dataInReceiver.receivedBytes());
        } finally {
            tasks.give(command);
            bounces.give(in, dataIn);
            bounces.give(out, dataOut);
        }
    }

    /** A loop that waits for itself waits forever. */
    void refuseOnLoop() throws InvalidRequestException {
        if (connection.loop().inLoop()) {
            throw new InvalidRequestException(
                    "a completion must not wait for another request: submit it instead");
        }
    }

    /** Asks a discovery session what targets there are. */
    List<DiscoveredTarget> sendTargets() throws IOException {
        var answer = new CompletableFuture<List<DiscoveredTarget>>();
        var text = new InitiatorText(new SendTargets.All().request(),
                parameters().maxSendDataSegmentLength(), LoginLimits.DEFAULT);
        connection.loop().execute(() -> ask(text, answer));
        return Initiator.await(answer, options.timeouts().loginMs(), portal(), "discovery");
    }

    private void ask(InitiatorText text, CompletableFuture<List<DiscoveredTarget>> answer) {
        TextTurn first = text.first();
        long deadlineMs = connection.loop().nowMs() + options.timeouts().loginMs();
        control.ask(new Exchange("text request", deadlineMs) {
            @Override
            boolean answered(TargetPdu pdu, MemorySegment data) throws ProtocolException {
                if (!(pdu instanceof TextResponse response)) {
                    throw new ProtocolException(pdu.describe() + " answers a Text Request");
                }
                return switch (text.receive(
                        new TextTurn(response.isFinal(), response.continues(), data))) {
                    case InitiatorText.Send(TextTurn next) -> {
                        // A negotiation keeps its task tag to the end (RFC 7143 section 11.10.4).
                        control.send(() -> request(next, itt, response.ttt()), next.text());
                        yield false;
                    }
                    case InitiatorText.Complete(var keys) -> {
                        answer.complete(SendTargets.parse(keys));
                        yield true;
                    }
                };
            }

            @Override
            void failed(IOException why) {
                answer.completeExceptionally(why);
                connection.end(why);
            }
        }, itt -> request(first, itt, Bhs.NO_TAG), first.text());
    }

    private TextRequest request(TextTurn turn, int itt, int ttt) {
        return new TextRequest(true, turn.isFinal(), turn.more(), Lun.ZERO, itt, ttt,
                tasks.numbering().current(), connection.expStatSn());
    }

    /** Logs out and ends the connection; waits for that, within the time for a logout. Idempotent. */
    @Override
    public void close() {
        if (closing.compareAndSet(false, true)) {
            tasks.refuse("the session is closed", null);
            try {
                connection.loop().execute(control::logout);
            } catch (RejectedExecutionException e) {
                LOG.log(System.Logger.Level.DEBUG, "logout from {0}: {1}", targetName(), e);
            }
        }
        if (connection.loop().inLoop()) {
            return; // what follows is this thread's own work
        }
        try {
            if (!control.ended().await(options.timeouts().logoutMs() + RELEASE_MS,
                    TimeUnit.MILLISECONDS) || !tasks.awaitNone(RELEASE_MS)) {
                LOG.log(System.Logger.Level.ERROR, "session with {0} does not end", targetName());
            }
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
        whenClosed.accept(this);
    }

    @Override
    public String toString() { return targetName() + " at " + portal(); }
}
