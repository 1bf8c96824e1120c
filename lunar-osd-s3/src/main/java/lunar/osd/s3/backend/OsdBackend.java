package lunar.osd.s3.backend;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import lunar.osd.client.NoSuchObjectException;
import lunar.osd.client.NotEmptyException;
import lunar.osd.client.Osd;
import lunar.osd.client.OsdObject;
import lunar.osd.client.Partition;
import lunar.osd.client.QuotaExceededException;
import lunar.osd.client.Reply;
import lunar.osd.client.RequestOptions;
import lunar.osd.client.UserObject;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.attribute.Attribute;
import lunar.osd.wire.attribute.AttributeId;
import lunar.osd.wire.command.FlushScope;
import lunar.osd.wire.page.PartitionAttribute;
import lunar.osd.wire.page.UserObjectAttribute;

/** A device that is reached over iSCSI or iSER. Thread-safe. */
public final class OsdBackend implements ObjectBackend {
    private final Osd osd;

    /** @param osd the device, whose session is open as long as this is used */
    public OsdBackend(Osd osd) {
        this.osd = osd;
    }

    @FunctionalInterface
    private interface Call<T> {
        T run() throws IOException;
    }

    private static <T> T changing(Call<T> call) throws IOException {
        try {
            return call.run();
        } catch (QuotaExceededException e) {
            throw new QuotaException("a quota of the device is exceeded", e);
        }
    }

    @Override
    public List<Listed> partitions(List<AttributeId> attributes) throws IOException {
        return list(attributes, PartitionAttribute.USERNAME.id(), Long.MAX_VALUE,
                ids -> osd.partitions(0, ids));
    }

    @Override
    public List<Listed> list(long partition, long from, int max, List<AttributeId> attributes)
            throws IOException {
        try {
            return list(attributes, UserObjectAttribute.USERNAME.id(), max,
                    ids -> osd.partition(partition).objects(from, ids));
        } catch (NoSuchObjectException _) {
            return List.of();
        }
    }

    @FunctionalInterface
    private interface ListCall<T extends OsdObject> {
        Stream<Reply<T>> run(AttributeId... attributes) throws IOException;
    }

    /** @param substitute asked for where no attribute is wanted, because a list has at least one */
    private static <T extends OsdObject> List<Listed> list(List<AttributeId> attributes,
            AttributeId substitute, long max, ListCall<T> call) throws IOException {
        boolean none = attributes.isEmpty();
        AttributeId[] ids = none
                ? new AttributeId[]{substitute}
                : attributes.toArray(AttributeId[]::new);
        try (Stream<Reply<T>> replies = call.run(ids)) {
            return replies.limit(max).map(reply -> new Listed(number(reply.value().id()),
                    none ? List.of() : inOrder(attributes, reply.attributes()))).toList();
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
    }

    private static long number(ObjectId id) {
        return id.isPartition() ? id.partition() : id.object();
    }

    /** A device need not return attributes that are not set. */
    private static List<Attribute> inOrder(List<AttributeId> ids, List<Attribute> attributes) {
        return ids.stream().map(id -> attributes.stream().filter(each -> each.id().equals(id))
                .findFirst().orElseGet(() -> Attribute.unset(id))).toList();
    }

    @Override
    public long createPartition(List<Attribute> attributes) throws IOException {
        return changing(() -> osd.createPartition(setting(attributes)).value().id().partition());
    }

    private static RequestOptions setting(List<Attribute> attributes) {
        return RequestOptions.NONE.set(attributes.toArray(Attribute[]::new));
    }

    @Override
    public boolean removePartition(long partition) throws IOException {
        try {
            osd.partition(partition).remove();
            return true;
        } catch (NoSuchObjectException _) {
            return true;
        } catch (NotEmptyException _) {
            return false;
        }
    }

    @Override
    public Optional<List<Attribute>> attributes(ObjectId object, List<AttributeId> attributes)
            throws IOException {
        try {
            return Optional.of(inOrder(attributes, userObject(object).get(attributes)));
        } catch (NoSuchObjectException _) {
            return Optional.empty();
        }
    }

    @Override
    public void create(ObjectId object, List<Attribute> attributes) throws IOException {
        var _ = changing(
                () -> partition(object).create(object.object(), setting(attributes)));
    }

    @Override
    public void set(ObjectId object, List<Attribute> attributes) throws IOException {
        changing(() -> {
            userObject(object).set(attributes.toArray(Attribute[]::new));
            return object;
        });
    }

    @Override
    public OutputStream write(ObjectId object, List<Attribute> attributes) throws IOException {
        return new NewObjectOutput(partition(object), object.object(), setting(attributes),
                osd.options().transferBytes());
    }

    @Override
    public InputStream read(ObjectId object, long offset, long length) throws IOException {
        return userObject(object).openInput(offset, length);
    }

    @Override
    public void remove(ObjectId object) throws IOException {
        try {
            userObject(object).remove();
        } catch (NoSuchObjectException _) {
            // it has been removed before
        }
    }

    @Override
    public boolean flush(ObjectId object) throws IOException {
        try {
            flushExisting(object);
            return true;
        } catch (NoSuchObjectException _) {
            return false;
        }
    }

    @Override
    public long losses() throws IOException { return osd.losses(); }

    private void flushExisting(ObjectId object) throws IOException {
        if (object.isRoot()) {
            osd.flush();
        } else if (object.isPartition()) {
            partition(object).flush(FlushScope.MEMBERS);
        } else {
            userObject(object).flush();
        }
    }

    private Partition partition(ObjectId object) { return osd.partition(object.partition()); }

    private UserObject userObject(ObjectId object) {
        return partition(object).object(object.object());
    }
}
