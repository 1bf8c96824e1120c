package lunar.iser.connection;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import lunar.iscsi.ProtocolException;
import lunar.iscsi.framing.Framing;
import lunar.iscsi.framing.PduReceiver;
import lunar.iscsi.login.Offer;
import lunar.iscsi.login.OperationalParameters;
import lunar.iscsi.pdu.AsyncMessage;
import lunar.iscsi.pdu.Bhs;
import lunar.iscsi.pdu.DataIn;
import lunar.iscsi.pdu.DataOut;
import lunar.iscsi.pdu.InitiatorPdu;
import lunar.iscsi.pdu.Pdu;
import lunar.iscsi.pdu.R2t;
import lunar.iscsi.pdu.Reject;
import lunar.iscsi.pdu.ScsiCommand;
import lunar.iscsi.pdu.ScsiResponse;
import lunar.iscsi.pdu.TaskManagementResponse;
import lunar.iscsi.spi.Transport.Release;
import lunar.iser.memory.DeviceMemory;
import lunar.iser.memory.MessageBuffer;
import lunar.iser.memory.RegisteredPools;
import lunar.iser.wire.Hello;
import lunar.iser.wire.HelloReply;
import lunar.iser.wire.IserHeader;
import lunar.iser.wire.ReceivedMessage;
import lunar.rdma.Endpoint;
import lunar.rdma.RdmaException;
import org.jspecify.annotations.Nullable;

/**
 * Translates PDUs to RDMA operations and back (RFC 7145 section 7.3): control-type PDUs become messages, a Data-In
 * becomes RDMA Writes, an R2T becomes RDMA Reads, and a SCSI Command advertises the initiator's buffers. Any thread
 * sends; messages are delivered by the owner's thread.
 */
final class PduExchange {
    /** Is notified of the results of operations. */
    interface User {
        /** A message or fetched data have arrived; on the home loop. */
        void arrived(Arrival arrival);

        /** Operations have completed; on the home loop. */
        void progress();

        /** The connection has failed, and must end; any thread. */
        void failed(IOException why);
    }

    private static final int FINAL = 0x80;
    private static final int WORD_MASK = 3;
    private static final MemorySegment NONE = MemorySegment.NULL;

    private final DeviceMemory memory;
    private final boolean isInitiator;
    private final boolean needsHello;
    private final User user;
    private final SendQueue sends;
    private final Receives receives;
    private final ExposedCommands exposed;
    private final RemoteCommands remote = new RemoteCommands();
    private final long maxMessageBytes;
    private volatile boolean invalidates;
    private int peerMaxAhsBytes;
    private int readDepth = 1;

    // Owner's thread only.
    private final ReceivedMessage received = new ReceivedMessage();
    private Framing framing = Framing.LOGIN;
    private boolean awaitsHello;
    private boolean awaitsHelloReply;
    /** ExpStatSN of the last PDU that the initiator has sent; at a target. */
    private int expStatSn;

    PduExchange(DeviceMemory memory, boolean isInitiator, boolean needsHello, User user) {
        this.memory = memory;
        maxMessageBytes = memory.maxMessageBytes();
        this.isInitiator = isInitiator;
        this.needsHello = needsHello;
        this.user = user;
        sends = new SendQueue(memory, isInitiator, user::progress, user::failed);
        exposed = new ExposedCommands(memory);
        receives = new Receives(memory, new Receives.User() {
            @Override
            public void arrived(Arrival message) { user.arrived(message); }

            @Override
            public void ended() { user.progress(); }

            @Override
            public void deliver(MemorySegment message, PduReceiver to) throws IOException {
                PduExchange.this.deliver(message, to);
            }
        }, user::failed);
    }

    // --- establishing ---

    void open(Endpoint made) throws RdmaException { receives.open(made); }

    void invalidates(boolean value) { invalidates = value; }

    void established(Endpoint connected) {
        readDepth = connected.options().readDepth();
        sends.open(connected);
    }

    Offer offer(Offer wanted) { return IserKeys.adapt(wanted, needsHello); }

    /**
     * Applies the parameters that the login has negotiated; on the owner's thread.
     *
     * @param commands most commands outstanding at a time; each needs a receive, for itself or its response
     */
    void agreed(OperationalParameters parameters, int commands) {
        try {
            receives.grow(commands + IserKeys.UNEXPECTED_PDUS);
        } catch (RdmaException e) {
            user.failed(e);
            return;
        }
        remote.agreed(parameters);
        if (parameters.iser().isPresent()) {
            OperationalParameters.Iser iser = parameters.iser().get();
            sends.limitUnexpected(iser.maxOutstandingUnexpectedPdus());
            peerMaxAhsBytes = (int) Math.min(Integer.MAX_VALUE, iser.maxAhsLengthBytes());
            if (iser.helloRequired()) {
                exchangeHello();
            }
        }
    }

    /** Starts the exchange of Hello and HelloReply (section 5.1.3). The initiator sends nothing else until its end. */
    private void exchangeHello() {
        if (isInitiator) {
            awaitsHelloReply = true;
            sends.hold();
            raw(message -> new Hello(Hello.VERSION, Hello.VERSION, readDepth).encode(message));
        } else {
            awaitsHello = true;
        }
    }

    private void raw(Consumer<MemorySegment> encoder) {
        try {
            SendEntry.Message message = sends.newMessage(IserHeader.LENGTH, 0);
            encoder.accept(message.content());
            sends.addFirst(message);
        } catch (RdmaException e) {
            user.failed(e);
        }
    }

    // --- sending ---

    void send(MemorySegment header, MemorySegment data, Release release) {
        var bhs = new Bhs().wrap(header);
        if (!isInitiator && bhs.opcode() == DataIn.OPCODE) {
            write(bhs, data, release);
            return;
        }
        try {
            if (hasAcceptedAhs(bhs)) {
                message(bhs, header, data, null);
            }
        } finally {
            release.release(); // the message has a copy of the data
        }
    }

    /** Whether the target accepts the AHS of a PDU. If it does not, the connection ends. */
    private boolean hasAcceptedAhs(Bhs bhs) {
        if (peerMaxAhsBytes == 0 || bhs.totalAhsLengthBytes() <= peerMaxAhsBytes) {
            return true;
        }
        user.failed(new ProtocolException("a PDU with " + bhs.totalAhsLengthBytes()
                + " bytes of AHS; the target accepts " + peerMaxAhsBytes
                + " (MaxAHSLength, RFC 7145 section 6.8)"));
        return false;
    }

    void sendCommand(MemorySegment header, MemorySegment data, MemorySegment dataIn,
            MemorySegment dataOut, Release release) {
        var bhs = new Bhs().wrap(header);
        if (!hasAcceptedAhs(bhs)) {
            release.release();
            return;
        }
        ExposedCommand command;
        try {
            command = exposed.expose(bhs.itt(), dataIn, dataOut, data.byteSize(), release);
        } catch (RdmaException e) {
            user.failed(e);
            release.release();
            return;
        }
        if (!message(bhs, header, data, command)) {
            ExposedCommand removed = exposed.remove(bhs.itt());
            if (removed != null) { // otherwise the end of the connection has released it
                exposed.end(removed);
            }
        }
    }

    /** Queues a PDU as a message; returns false if the connection no longer sends. */
    private boolean message(Bhs bhs, MemorySegment header, MemorySegment data,
            @Nullable ExposedCommand command) {
        long dataBytes = data.byteSize();
        long paddedBytes = dataBytes + (-dataBytes & WORD_MASK);
        long length = IserHeader.LENGTH + header.byteSize() + paddedBytes;
        if (length > DeviceMemory.LONG_BYTES) {
            user.failed(new IOException("cannot send a PDU of " + (length - IserHeader.LENGTH)
                    + " bytes; the longest message has room for "
                    + (DeviceMemory.LONG_BYTES - IserHeader.LENGTH)));
            return false;
        }
        SendEntry.Message message;
        try {
            message = sends.newMessage((int) length, header.byteSize() + paddedBytes);
        } catch (RdmaException e) {
            user.failed(e);
            return false;
        }
        MemorySegment content = message.content();
        IserHeader.encode(content);
        long at = IserHeader.LENGTH;
        MemorySegment.copy(header, 0, content, at, header.byteSize());
        at += header.byteSize();
        MemorySegment.copy(data, 0, content, at, dataBytes);
        content.asSlice(at + dataBytes).fill((byte) 0);
        if (command != null) {
            advertise(content, command, dataBytes);
        }
        if (!isInitiator) {
            order(bhs, message);
        }
        return sends.add(message, bhs);
    }

    private static void advertise(MemorySegment message, ExposedCommand command,
            long immediateBytes) {
        if (command.forDataOut != null) {
            // TaggedBufferForSolicitedDataOnly=Yes (section 6.9): the first byte that is not in this PDU.
            IserHeader.addWrite(message, command.forDataOut.stag(),
                    command.forDataOut.address(immediateBytes));
        }
        if (command.forDataIn != null) {
            IserHeader.addRead(message, command.forDataIn.stag(),
                    command.forDataIn.address(0));
        }
    }

    /** Holds a PDU that ends tasks behind their RDMA Reads; a SCSI Response also invalidates the initiator's STag. */
    private void order(Bhs bhs, SendEntry.Message message) {
        if (bhs.opcode() == ScsiResponse.OPCODE) {
            RemoteCommand ended = remote.remove(bhs.itt());
            message.after = ended;
            if (ended != null && invalidates) {
                message.invalidated = ended.keyToInvalidate();
            }
        } else if (bhs.opcode() == TaskManagementResponse.OPCODE
                || bhs.opcode() == AsyncMessage.OPCODE) {
            // Either may tell that tasks have ended, whose buffers the initiator then withdraws.
            message.isAfterAllReads = true;
        }
    }

    /** Queues Data-In as RDMA Writes. */
    private void write(Bhs bhs, MemorySegment data, Release release) {
        List<SendEntry> parts = new ArrayList<>();
        try {
            RemoteCommand command = remote.get(bhs.itt());
            int stag = command.readStag();
            long address = command.readAddress(bhs.int32(DataIn.BUFFER_OFFSET));
            long length = data.byteSize();
            SendEntry.LocalData from = localData(data, true, release);
            for (long at = 0; at < length; at += maxMessageBytes) {
                int part = (int) Math.min(maxMessageBytes, length - at);
                parts.add(new SendEntry.Write(sends, from, at, part, address + at, stag));
            }
        } catch (IOException e) {
            release.release();
            user.failed(e);
            return;
        }
        add(parts);
    }

    private void add(List<SendEntry> operations) {
        if (!sends.add(operations)) {
            operations.forEach(each -> each.finish(false));
        }
    }

    /** Queues an R2T as RDMA Reads. */
    void fetch(MemorySegment r2t, MemorySegment into, Release release) {
        var bhs = new Bhs().wrap(r2t);
        int itt = bhs.itt();
        int ttt = bhs.ttt();
        int offset = bhs.int32(R2t.BUFFER_OFFSET);
        List<SendEntry> parts = new ArrayList<>();
        try {
            if (!sends.mayRead()) {
                throw new ProtocolException("data-out cannot be fetched: the initiator permits no"
                        + " RDMA Reads (iSER-IRD of its Hello, RFC 7145 section 9.3)");
            }
            RemoteCommand command = remote.get(itt);
            int stag = command.writeStag();
            long address = command.writeAddress(offset);
            long length = into.byteSize();
            SendEntry.LocalData to = localData(into, false, release);
            for (long at = 0; at < length; at += maxMessageBytes) {
                int part = (int) Math.min(maxMessageBytes, length - at);
                parts.add(new SendEntry.Read(sends, to, at, part, address + at, stag, command,
                        success -> fetched(success, itt, ttt, offset, into)));
            }
        } catch (IOException e) {
            release.release();
            user.failed(e);
            return;
        }
        add(parts);
    }

    private void fetched(boolean success, int itt, int ttt, int offset, MemorySegment data) {
        if (success) {
            user.arrived(new FetchedData(itt, ttt, offset, data));
        }
    }

    /**
     * Returns registered memory for RDMA operations on data: the registered pool that contains the data, or else a copy
     * of short data to send, or else memory that is registered for these operations alone.
     */
    private SendEntry.LocalData localData(MemorySegment data, boolean isSent, Release release)
            throws RdmaException {
        int parts = (int) Math.max(1, Math.ceilDiv(data.byteSize(), maxMessageBytes));
        RegisteredPools.Pool pool = memory.pools().find(data);
        if (pool != null) {
            return new SendEntry.LocalData(pool.local(), pool.offset(data), null, null, release,
                    parts);
        }
        if (isSent && data.byteSize() <= DeviceMemory.LONG_BYTES) {
            MessageBuffer copy = memory.takeFor((int) data.byteSize());
            copy.bytes().asSlice(0, data.byteSize()).copyFrom(data);
            return new SendEntry.LocalData(copy.region(), copy.offset(), null, copy, release,
                    parts);
        }
        return StandIn.of(memory, data, isSent, release, parts);
    }

    void flush() { sends.post(); }

    long queuedBytes() { return sends.waitingBytes(); }

    long bufferedBytes() { return sends.waitingMessageBytes(); }

    boolean isIdle() { return sends.isIdle(); }

    /** Withdraws the buffers of a command that gets no response; returns the action that releases them. */
    Runnable withdraw(int itt) {
        if (!isInitiator) {
            RemoteCommand _ = remote.remove(itt);
            return () -> {};
        }
        ExposedCommand command = exposed.remove(itt);
        return command == null ? () -> {} : () -> exposed.end(command);
    }

    // --- receiving, on the owner's thread ---

    void framing(Framing next) { framing = next; }

    private void deliver(MemorySegment message, PduReceiver to) throws IOException {
        if ((awaitsHello || awaitsHelloReply) && exchangedHello(message)) {
            return;
        }
        received.wrap(message, framing);
        Bhs bhs = received.bhs();
        if (isInitiator) {
            if (bhs.opcode() == ScsiResponse.OPCODE) {
                exposed.answered(bhs);
            } else if (bhs.opcode() == Reject.OPCODE && received.dataBytes() >= Bhs.LENGTH) {
                sends.rejected(new Bhs().wrap(received.data()));
            }
        } else {
            expStatSn = bhs.int32(InitiatorPdu.EXP_STAT_SN);
            if (bhs.opcode() == ScsiCommand.OPCODE) {
                remote.add(message, bhs, received.dataBytes());
            } else if (bhs.opcode() == DataOut.OPCODE && bhs.ttt() != Bhs.NO_TAG) {
                throw new ProtocolException("a Data-Out PDU with solicited data, which are fetched"
                        + " over iSER (RFC 7145 section 7.3.6)");
            }
        }
        sends.received(bhs);
        MemorySegment ahs = received.ahs();
        MemorySegment place = NONE;
        int length = received.dataBytes();
        if (length > 0) {
            place = to.dataDestination(bhs, ahs, length);
            if (place.equals(NONE)) {
                place = received.data();
            } else {
                place.copyFrom(received.data());
            }
        }
        to.received(bhs, ahs, place);
    }

    /** Handles Hello or HelloReply. Returns whether the message is consumed; a PDU before them is an error. */
    private boolean exchangedHello(MemorySegment message) throws ProtocolException {
        if (awaitsHello && Hello.isHello(message)) {
            HelloReply reply = HelloReply.to(Hello.decode(message), readDepth);
            raw(reply::encode);
            if (reply.rejected()) {
                throw new ProtocolException("the initiator does not support version "
                        + Hello.VERSION + " of iSER (RFC 7145 section 9.3)");
            }
            sends.limitReads(reply.reads());
            awaitsHello = false;
            return true;
        }
        if (awaitsHelloReply && HelloReply.isHelloReply(message)) {
            if (HelloReply.decode(message).rejected()) {
                throw new ProtocolException("the target does not support version "
                        + Hello.VERSION + " of iSER (RFC 7145 section 9.4)");
            }
            awaitsHelloReply = false;
            sends.resume();
            return true;
        }
        throw new ProtocolException(
                "PDU received before iSER " + (awaitsHello ? "Hello" : "HelloReply")
                        + " (RFC 7145 section 5.1.3)");
    }

    /** Data-out that have been fetched, delivered like a single Data-Out PDU that answers the whole R2T. */
    private final class FetchedData implements Arrival {
        private final int itt;
        private final int ttt;
        private final int offset;
        private final MemorySegment data;

        FetchedData(int itt, int ttt, int offset, MemorySegment data) {
            this.itt = itt;
            this.ttt = ttt;
            this.offset = offset;
            this.data = data;
        }

        @Override
        public void deliver(PduReceiver to) throws ProtocolException {
            var bhs = new Bhs().wrap(MemorySegment.ofArray(new byte[Bhs.LENGTH]))
                    .start(DataOut.OPCODE, false, FINAL).lengths(0, (int) data.byteSize())
                    .int32(Pdu.ITT, itt).int32(Pdu.TTT, ttt)
                    .int32(InitiatorPdu.EXP_STAT_SN, expStatSn)
                    .int32(DataOut.BUFFER_OFFSET, offset);
            to.received(bhs, NONE, data);
        }

        @Override
        public void drop() {}
    }

    // --- the end ---

    /** Accepts nothing more to send; what is queued is still sent. */
    void close() {
        sends.post();
        sends.close();
    }

    /** Posts nothing more. */
    void stop() { sends.stop(); }

    /** Whether operations have failed or were never posted, so that data may be missing; after the end. */
    boolean wasCut() {
        return sends.wasCut();
    }

    /** Releases operations that were never posted. */
    void dropWaiting() { sends.dropWaiting(); }

    /** Releases the memory that the device could access, after the endpoint has been closed. */
    void release() {
        sends.dropPosted();
        receives.drop();
    }

    /**
     * Releases the buffers of unanswered commands, after the endpoint has been closed and all arrivals have been
     * delivered, since a response among these takes its data from there.
     */
    void releaseExposed() { exposed.endAll(); }
}
