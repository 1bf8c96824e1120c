package lunar.osd.client;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import lunar.block.MediumException;
import lunar.osd.client.security.SecuredDevice;
import lunar.osd.security.Credential;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.ServiceAction;
import lunar.osd.wire.attribute.AttributeId;
import lunar.osd.wire.page.PartitionAttribute;
import lunar.scsi.Bytes;
import lunar.scsi.Sense;
import lunar.scsi.wire.BigEndian;
import org.jspecify.annotations.Nullable;

/** Asks a device what its keys follow from. Thread-safe. */
final class DeviceLookup implements SecuredDevice {
    private static final int PARTITION_AT = 16;
    private static final int TIME_LENGTH = 6;

    private final OsdCalls calls;
    private final SecurityPage page;
    private volatile @Nullable Bytes systemId;

    DeviceLookup(OsdCalls calls, SecurityPage page) {
        this.calls = calls;
        this.page = page;
    }

    /** Reads a VPD page about security. */
    @FunctionalInterface
    interface SecurityPage {
        Bytes read(int code) throws IOException;
    }

    @Override
    public Bytes systemId() throws IOException {
        Bytes known = systemId;
        if (known == null) {
            known = page.read(SecurityTokens.INFORMATION_PAGE);
            if (known.length() != Credential.SYSTEM_ID_LENGTH) {
                throw new MediumException(calls.name() + " has no security: it needs no key and no"
                        + " credential");
            }
            systemId = known;
        }
        return known;
    }

    /** Asks again next time. */
    void forget() { systemId = null; }

    @Override
    public PartitionKeyIds keyIds(long partition) throws IOException {
        var ids = new ArrayList<AttributeId>(List.of(PartitionAttribute.CREATED.id(),
                PartitionAttribute.PARTITION_KEY_ID.id()));
        IntStream.range(0, PartitionAttribute.WORKING_KEYS)
                .mapToObj(PartitionAttribute::workingKeyId)
                .forEach(ids::add);
        try (Stream<Reply<Long>> list = ObjectIds.of(calls, ServiceAction.LIST, ObjectId.ROOT,
                partition, ids)) {
            Optional<Reply<Long>> first = list.findFirst()
                    .filter(each -> each.value() == partition);
            if (first.isEmpty()) {
                var id = ObjectId.ofPartition(partition);
                throw new NoSuchObjectException(id + " on " + calls.name() + ": no such object", id,
                        Sense.invalidFieldInCdb(PARTITION_AT), null);
            }
            return keyIds(first.get());
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
    }

    private static PartitionKeyIds keyIds(Reply<Long> reply) {
        long created = reply.attribute(PartitionAttribute.CREATED)
                .filter(time -> time.length() == TIME_LENGTH)
                .map(time -> (long) BigEndian.int16(time.segment(), 0) << 32
                        | BigEndian.int32(time.segment(), 2))
                .orElse(0L);
        return new PartitionKeyIds(created,
                reply.attribute(PartitionAttribute.PARTITION_KEY_ID).orElse(Bytes.EMPTY),
                IntStream.range(0, PartitionAttribute.WORKING_KEYS)
                        .mapToObj(i -> reply.attribute(PartitionAttribute.workingKeyId(i))
                                .orElse(Bytes.EMPTY))
                        .toList());
    }
}
