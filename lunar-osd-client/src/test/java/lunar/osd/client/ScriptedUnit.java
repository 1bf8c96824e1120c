package lunar.osd.client;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiFunction;
import lunar.block.StorageException;
import lunar.initiator.ScsiResult;
import lunar.iscsi.pdu.Residual;
import lunar.osd.wire.BufferPart;
import lunar.osd.wire.OsdVersion;
import lunar.osd.wire.ServiceAction;
import lunar.osd.wire.attribute.Attribute;
import lunar.osd.wire.attribute.GetAttributesList;
import lunar.osd.wire.attribute.ListParameters;
import lunar.osd.wire.attribute.RetrievedAttributesList;
import lunar.osd.wire.attribute.SetAttributesList;
import lunar.osd.wire.command.OsdCdb;
import lunar.osd.wire.command.OsdCdbDecoder;
import lunar.scsi.Bytes;
import lunar.scsi.InvalidCdbException;
import lunar.scsi.InvalidParameterListException;
import lunar.scsi.Sense;
import lunar.scsi.Status;
import lunar.scsi.vpd.StandardInquiry;

/** A unit that answers each command as the test says, and keeps all that it received. */
final class ScriptedUnit implements CommandLink {
    private static final int TEST_UNIT_READY = 0x00;
    private static final int INQUIRY = 0x12;

    /** A command that was received. */
    record Received(OsdCdb cdb, byte[] bytes, MemorySegment in, MemorySegment out) {
        ListParameters lists() { return (ListParameters) cdb.common().attributes(); }

        /** The attributes to set. */
        List<Attribute> sets() throws InvalidParameterListException {
            return SetAttributesList.decode(lists().setList().in(out), OsdVersion.OSD_2)
                    .attributes();
        }

        /** The attributes to get. */
        GetAttributesList gets() throws InvalidParameterListException {
            return GetAttributesList.decode(lists().getList().in(out), OsdVersion.OSD_2);
        }

        /** Writes the retrieved attributes into data-in. */
        ScsiResult retrieved(Attribute... attributes) {
            BufferPart part = lists().retrieved();
            new RetrievedAttributesList(List.of(attributes)).encode(in.asSlice(part.offset()),
                    part.length(), OsdVersion.OSD_2);
            return good((int) part.end());
        }
    }

    /** Answers a command. */
    @FunctionalInterface
    interface Answer {
        ScsiResult to(Received command) throws Exception;
    }

    private final Map<ServiceAction, Answer> answers = new EnumMap<>(ServiceAction.class);
    private final List<Received> received = Collections.synchronizedList(new ArrayList<>());
    private final List<ScsiResult> ready = new ArrayList<>();
    private int deviceType = StandardInquiry.OSD;
    private int inFlight;
    private int mostInFlight;

    /** Opens a client of this unit. */
    Osd open(OsdOptions options) throws StorageException {
        return Osd.open(this, options);
    }

    Osd open() throws StorageException { return open(OsdOptions.DEFAULT); }

    /** Sets the answer to all commands of a kind. */
    ScriptedUnit on(ServiceAction action, Answer answer) {
        answers.put(action, answer);
        return this;
    }

    /** Answers the first TEST UNIT READY. */
    ScriptedUnit atFirst(ScsiResult result) {
        ready.add(result);
        return this;
    }

    ScriptedUnit ofType(int type) {
        deviceType = type;
        return this;
    }

    List<Received> received() { return received; }

    List<ServiceAction> actions() {
        return received.stream().map(each -> each.cdb().action()).toList();
    }

    int mostInFlight() { return mostInFlight; }

    static ScsiResult good(int dataInBytes) {
        return new ScsiResult(Status.GOOD.code(), Bytes.EMPTY, Residual.NONE, Residual.NONE,
                dataInBytes);
    }

    static ScsiResult check(Sense sense) { return check(sense, 0); }

    static ScsiResult check(Sense sense, int dataInBytes) {
        return new ScsiResult(Status.CHECK_CONDITION.code(), Bytes.of(sense.encodeDescriptor()),
                Residual.NONE, Residual.NONE, dataInBytes);
    }

    @Override
    public String name() { return "scripted/0"; }

    @Override
    public long patienceMs() { return 1000; }

    @Override
    public long losses() { return 0; }

    @Override
    public ScsiResult execute(byte[] cdb, MemorySegment in, MemorySegment out)
            throws StorageException {
        return switch (cdb[0]) {
            case TEST_UNIT_READY -> ready.isEmpty() ? good(0) : ready.removeFirst();
            case INQUIRY -> {
                byte[] data = new StandardInquiry(0, deviceType, false, 6, false, true, false, 0,
                        false, false, false, false, true, "LUNAR", "SCRIPTED", "1", List.of())
                        .bytes();
                MemorySegment.copy(MemorySegment.ofArray(data), 0, in, 0, data.length);
                yield good(data.length);
            }
            default -> answer(cdb, in, out);
        };
    }

    private ScsiResult answer(byte[] cdb, MemorySegment in, MemorySegment out)
            throws StorageException {
        try {
            OsdCdb decoded = OsdCdbDecoder.decode(MemorySegment.ofArray(cdb));
            var command = new Received(decoded, cdb, in, out);
            received.add(command);
            return answers.getOrDefault(decoded.action(), _ -> good(0)).to(command);
        } catch (StorageException e) {
            throw e;
        } catch (InvalidCdbException e) {
            throw new AssertionError("the client sent an invalid CDB", e);
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    /** Starts a command, which is answered when its user waits for it. */
    @Override
    public CompletableFuture<ScsiResult> start(byte[] cdb, MemorySegment in, MemorySegment out) {
        mostInFlight = Math.max(mostInFlight, ++inFlight);
        return new CompletableFuture<>() {
            private void end() {
                if (!isDone()) {
                    inFlight--;
                    try {
                        complete(answer(cdb, in, out));
                    } catch (StorageException e) {
                        completeExceptionally(e);
                    }
                }
            }

            @Override
            public ScsiResult join() {
                end();
                return super.join();
            }

            @Override
            public <U> CompletableFuture<U> handle(
                    BiFunction<? super ScsiResult, Throwable, ? extends U> function) {
                end();
                return super.handle(function);
            }
        };
    }
}
