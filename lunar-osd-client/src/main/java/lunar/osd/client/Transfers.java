package lunar.osd.client;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.ServiceAction;
import lunar.osd.wire.command.ByteRangeCommand;

/**
 * Transfers between memory and user objects, of any length: splits them, and keeps several commands in flight. The last
 * command has the attributes, and is sent when all others have succeeded.
 */
final class Transfers {
    private final OsdCalls calls;

    Transfers(OsdCalls calls) { this.calls = calls; }

    /** Makes the command for a part of a buffer. */
    private interface Part {
        OsdCommand of(long at, long length, RequestOptions options);
    }

    /** Reads; the reply has how many bytes there are before the end of the object. */
    Reply<Long> read(ObjectId object, long offset, MemorySegment into, RequestOptions options)
            throws IOException {
        long last = lastPart(into.byteSize());
        long done = last == 0
                ? 0
                : parts(last, into, options, (at, length, each) -> readCommand(object,
                        offset + at, into.asSlice(at, length), each));
        if (done < last && options.gets().isEmpty() && options.sets().isEmpty()) {
            return Reply.of(done);
        }
        Reply<Long> end = calls
                .execute(readCommand(object, offset + last, into.asSlice(last), options));
        return end.map(bytes -> done < last ? done : done + bytes);
    }

    /** Writes. */
    Reply<Long> write(ObjectId object, long offset, MemorySegment from, RequestOptions options)
            throws IOException {
        long last = lastPart(from.byteSize());
        if (last > 0) {
            parts(last, from, options, (at, length, each) -> writeCommand(object, offset + at,
                    from.asSlice(at, length), each));
        }
        return calls.execute(writeCommand(object, offset + last, from.asSlice(last), options));
    }

    static OsdCommand readCommand(ObjectId object, long offset, MemorySegment into,
            RequestOptions options) {
        return range(ServiceAction.READ, object, into.byteSize(), offset, options).reading(into);
    }

    static OsdCommand writeCommand(ObjectId object, long offset, MemorySegment from,
            RequestOptions options) {
        return range(ServiceAction.WRITE, object, from.byteSize(), offset, options).writing(from);
    }

    /** A command with a range of bytes. */
    static OsdCommand range(ServiceAction action, ObjectId object, long length, long offset,
            RequestOptions options) {
        return OsdCommand.of(action, options, common -> new ByteRangeCommand(action, common,
                object, length, offset, 0));
    }

    /** Where the last part of a transfer begins. */
    private long lastPart(long length) {
        int most = calls.options().transferBytes();
        return length <= most ? 0 : (length - 1) / most * most;
    }

    /** Transfers the parts before an offset; returns how many bytes came before the first part that was short. */
    private long parts(long end, MemorySegment buffer, RequestOptions options, Part part)
            throws IOException {
        int length = calls.options().transferBytes();
        RequestOptions plain = options.withoutAttributes();
        if (!Pipeline.isShared(buffer)) {
            return oneByOne(end, length, plain, part);
        }
        var pipeline = new Pipeline(calls);
        long done = 0;
        boolean whole = true;
        try {
            for (long at = 0; (at < end && whole) || !pipeline.isEmpty();) {
                if (at < end && whole && !pipeline.isFull()) {
                    pipeline.start(part.of(at, length, plain));
                    at += length;
                } else {
                    long bytes = pipeline.await();
                    done += whole ? bytes : 0;
                    whole &= bytes == length;
                }
            }
        } finally {
            pipeline.drain();
        }
        return done;
    }

    private long oneByOne(long end, int length, RequestOptions options, Part part)
            throws IOException {
        for (long at = 0; at < end; at += length) {
            long bytes = calls.execute(part.of(at, length, options)).value();
            if (bytes < length) {
                return at + bytes;
            }
        }
        return end;
    }
}
