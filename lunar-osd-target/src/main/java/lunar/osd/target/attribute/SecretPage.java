package lunar.osd.target.attribute;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import lunar.block.StorageException;
import lunar.osd.store.ObjectReader;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.attribute.Attribute;
import lunar.osd.wire.attribute.AttributeId;
import lunar.scsi.Bytes;

/**
 * A page of attributes in which the device keeps keys: no command gets or sets them. They are changed together with the
 * objects, removed with their partition, and as durable. The numbers of the pages are reserved by the standard.
 */
public final class SecretPage implements PageProvider {
    /** The page of the root. */
    public static final int OF_ROOT = 0x9000_7f00;
    /** The page of a partition. */
    public static final int OF_PARTITION = 0x3000_7f00;

    SecretPage() {}

    /** Returns the secret attributes of the root, to set them again after everything was removed. */
    public static List<Attribute> ofRoot(ObjectReader objects) throws StorageException {
        var all = new ArrayList<Attribute>();
        objects.attributes(ObjectId.ROOT, OF_ROOT, all::add);
        return all;
    }

    @Override
    public Bytes get(AttributeScope scope, int number) { return Bytes.EMPTY; }

    @Override
    public boolean all(AttributeScope scope, Predicate<Attribute> consumer) { return true; }

    @Override
    public SetRule rule(int number) { return SetRule.UNKNOWN; }

    @Override
    public void set(AttributeChange change, int number, Bytes value) {
        throw new IllegalArgumentException("attribute " + number + " of "
                + new AttributeId(OF_ROOT, number));
    }
}
