package lunar.osd.target.command;

import java.lang.foreign.MemorySegment;
import java.util.Optional;
import lunar.osd.target.security.DeviceSecurity;
import lunar.osd.wire.BufferPart;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.attribute.Attribute;
import lunar.osd.wire.attribute.AttributeParameters;
import lunar.osd.wire.attribute.FieldParameters;
import lunar.osd.wire.attribute.ListParameters;
import lunar.osd.wire.attribute.PageParameters;
import lunar.osd.wire.command.ByteRangeCommand;
import lunar.osd.wire.command.CreateCommand;
import lunar.osd.wire.command.FlushCommand;
import lunar.osd.wire.command.Isolation;
import lunar.osd.wire.command.OsdCdb;
import lunar.osd.wire.command.OsdCdbDecoder;
import lunar.osd.wire.command.SetMasterKeyCommand;
import lunar.scsi.InvalidCdbException;
import lunar.scsi.Sense;
import lunar.scsi.wire.BigEndian;

/**
 * Decodes CDBs and refuses those beyond the limits of the device, before any memory is taken for them. Errors name the
 * object.
 */
final class CommandChecks {
    private static final int IDS_END = 32;
    private static final int ISOLATION_BIT = 2;

    private final OsdLimits limits;
    private final DeviceSecurity security;

    CommandChecks(OsdLimits limits, DeviceSecurity security) {
        this.limits = limits;
        this.security = security;
    }

    /** Decodes a CDB with operation code 7Fh. */
    OsdCdb decode(MemorySegment cdb) throws InvalidCdbException {
        try {
            OsdCdb command = OsdCdbDecoder.decode(cdb);
            check(command);
            return command;
        } catch (InvalidCdbException e) {
            throw new InvalidCdbException(identified(e.sense(), cdb));
        }
    }

    private static Sense identified(Sense sense, MemorySegment cdb) {
        ObjectId object = cdb.byteSize() < IDS_END
                ? ObjectId.ROOT
                : new ObjectId(BigEndian.int64(cdb, CdbFieldAt.PARTITION),
                        BigEndian.int64(cdb, CdbFieldAt.OBJECT));
        return sense.withDescriptor(FunctionProgress.invalid(object).descriptor());
    }

    private void check(OsdCdb command) throws InvalidCdbException {
        checkIsolation(command.common().options().isolation());
        if (command.continuationLength() > OsdLimits.MAX_CONTINUATION) {
            throw InvalidCdbException.field(CdbFieldAt.CONTINUATION);
        }
        switch (command) {
            case ByteRangeCommand range -> {
                checkRange(command, range.startByte(), DataCommands.count(range));
                boolean transfers = range.hasDataOut() || range.hasDataIn();
                if (transfers && range.byteCount() > limits.maxTransferBytes()
                        - range.continuationLength()) {
                    throw InvalidCdbException.field(CdbFieldAt.length(command));
                }
            }
            case FlushCommand flush -> checkRange(command, flush.startByte(), flush.byteCount());
            case CreateCommand create -> {
                long attributes = create.objectCount()
                        * setBytes(command.common().attributes());
                long gets = create.objectCount() * getBytes(command.common().attributes());
                if (create.objectCount() > OsdLimits.MAX_CREATED
                        || attributes > OsdLimits.MAX_CREATED_ATTRIBUTES
                        || gets > OsdLimits.MAX_CREATED_GET_LISTS) {
                    throw InvalidCdbException.field(CdbFieldAt.length(command));
                }
            }
            default -> {
            }
        }
        checkAttributes(command.common().attributes());
        checkIntegrity(security.dataOutIntegrity(command), CdbFieldAt.dataOutIntegrity(command));
        checkIntegrity(security.dataInIntegrity(command), CdbFieldAt.dataInIntegrity(command));
    }

    /** Refuses an offset of integrity information that has no meaning, or is beyond all transfers. */
    private void checkIntegrity(Optional<BufferPart> part, int at) throws InvalidCdbException {
        checkEnd(part.orElseThrow(() -> InvalidCdbException.field(at)), at);
    }

    /** Refuses isolation from other commands that the root information page does not list as supported. */
    private static void checkIsolation(Isolation isolation) throws InvalidCdbException {
        switch (isolation) {
            case DEFAULT, NONE -> {
            }
            case STRICT, RANGE, FUNCTIONAL, VENDOR_SPECIFIC ->
                throw InvalidCdbException.field(CdbFieldAt.OPTIONS, ISOLATION_BIT);
        }
    }

    private static void checkRange(OsdCdb command, long start, long count)
            throws InvalidCdbException {
        if (count < 0) {
            throw InvalidCdbException.field(CdbFieldAt.length(command));
        }
        if (start < 0 || start + count < 0) {
            throw InvalidCdbException.field(CdbFieldAt.start(command));
        }
    }

    private static long setBytes(AttributeParameters parameters) {
        return switch (parameters) {
            case FieldParameters _ -> 0;
            case ListParameters list -> list.setList().length();
            case PageParameters page -> page.setValue().length();
        };
    }

    private static long getBytes(AttributeParameters parameters) {
        return parameters instanceof ListParameters list ? list.getList().length() : 0;
    }

    private void checkAttributes(AttributeParameters parameters) throws InvalidCdbException {
        switch (parameters) {
            case FieldParameters _ -> {
            }
            case ListParameters list -> {
                checkLength(list.getList(), OsdLimits.MAX_GET_LIST, CdbFieldAt.ATTRIBUTES);
                checkLength(list.setList(), OsdLimits.MAX_SET_LIST, CdbFieldAt.SET_LIST_LENGTH);
                checkEnd(list.getList(), CdbFieldAt.GET_LIST_OFFSET);
                checkEnd(list.setList(), CdbFieldAt.SET_LIST_OFFSET);
                checkStart(list.retrieved(), CdbFieldAt.LIST_RETRIEVED_OFFSET);
            }
            case PageParameters page -> {
                checkLength(page.setValue(), Attribute.MAX_LENGTH, CdbFieldAt.PAGE_SET_LENGTH);
                checkEnd(page.setValue(), CdbFieldAt.PAGE_SET_OFFSET);
                checkStart(page.retrieved(), CdbFieldAt.PAGE_RETRIEVED_OFFSET);
            }
        }
    }

    private static void checkLength(BufferPart part, int max, int at) throws InvalidCdbException {
        if (part.length() > max) {
            throw InvalidCdbException.field(at);
        }
    }

    private void checkEnd(BufferPart part, int at) throws InvalidCdbException {
        if (part.end() > limits.maxTransferBytes()) {
            throw InvalidCdbException.field(at);
        }
    }

    /** Retrieved attributes are truncated; but they have to start within the data. */
    private void checkStart(BufferPart part, int at) throws InvalidCdbException {
        if (part.offset() > limits.maxTransferBytes()) {
            throw InvalidCdbException.field(at);
        }
    }

    /** Returns the bytes of data-out that a command needs. */
    long dataOutBytes(OsdCdb command) {
        return Math.max(withoutIntegrity(command),
                security.dataOutIntegrity(command).map(BufferPart::end).orElse(0L));
    }

    private static long withoutIntegrity(OsdCdb command) {
        long data = command.continuationLength() + switch (command) {
            case ByteRangeCommand range -> range.hasDataOut() ? range.byteCount() : 0;
            case SetMasterKeyCommand keys -> keys.parameterListLength();
            default -> 0;
        };
        return Math.max(data, switch (command.common().attributes()) {
            case FieldParameters _ -> 0;
            case ListParameters list -> Math.max(list.getList().end(), list.setList().end());
            case PageParameters page -> page.setValue().end();
        });
    }
}
