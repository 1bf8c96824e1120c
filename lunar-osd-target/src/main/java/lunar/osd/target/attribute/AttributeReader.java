package lunar.osd.target.attribute;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import lunar.block.StorageException;
import lunar.osd.wire.attribute.Attribute;
import lunar.osd.wire.attribute.AttributeId;
import lunar.osd.wire.attribute.AttributesPage;
import lunar.osd.wire.page.PageKind;
import lunar.osd.wire.page.PageLayout;
import lunar.osd.wire.page.StandardPage;
import lunar.scsi.Bytes;

/**
 * Gets attributes of an object. Attributes are passed on one by one, so that a request for all of them needs no memory
 * for those that do not fit into the reply.
 */
public final class AttributeReader {
    private AttributeReader() {}

    /**
     * Passes the attributes that an entry of a get attributes list asks for until the consumer returns false. An
     * attribute that is not set, or that the object cannot have, has no value.
     *
     * @return false if the consumer did
     */
    public static boolean get(AttributeScope scope, AttributeId id, Predicate<Attribute> consumer)
            throws StorageException {
        if (id.page() == AttributeId.ALL_PAGES) {
            return allPages(scope, id.number(), consumer);
        }
        Optional<PageProvider> page = StandardPages.of(id.page(), scope.type());
        if (id.number() == AttributeId.ALL_NUMBERS) {
            return page.isEmpty() || page.get().all(scope, consumer);
        }
        return consumer.test(page.isEmpty()
                ? Attribute.unset(id)
                : new Attribute(id, page.get().get(scope, id.number())));
    }

    /** Returns the value of an attribute; no bytes if it is not set. */
    public static Bytes value(AttributeScope scope, AttributeId id) throws StorageException {
        Optional<PageProvider> page = StandardPages.of(id.page(), scope.type());
        return page.isEmpty() ? Bytes.EMPTY : page.get().get(scope, id.number());
    }

    /** All pages but that of the current command; those that users have defined are behind the device's own. */
    private static boolean allPages(AttributeScope scope, int number,
            Predicate<Attribute> consumer) throws StorageException {
        Predicate<Attribute> wanted = number == AttributeId.ALL_NUMBERS
                ? consumer
                : attribute -> attribute.id().number() != number || consumer.test(attribute);
        for (PageProvider page : StandardPages.of(scope.type())) {
            if (!page.all(scope, wanted)) {
                return false;
            }
        }
        boolean[] more = {true};
        scope.objects().attributes(scope.id(), AttributeId.ALL_PAGES, attribute -> {
            more[0] = StandardPages.isOwn(attribute.id().page()) || wanted.test(attribute);
            return more[0];
        });
        return more[0];
    }

    /** Returns a page in page format; without fields if it has none, or the object does not have the page. */
    public static AttributesPage page(AttributeScope scope, int number) throws StorageException {
        Optional<PageProvider> page = StandardPages.of(number, scope.type());
        Optional<StandardPage> standard = StandardPage.of(number);
        if (page.isEmpty() || standard.isEmpty()) {
            return AttributesPage.empty(number);
        }
        if (standard.get() == StandardPage.USER_OBJECT_COLLECTIONS) {
            return collections(scope);
        }
        Optional<PageLayout> layout = PageLayout.of(standard.get(), scope.version());
        if (layout.isEmpty()) {
            return AttributesPage.empty(number);
        }
        Map<Integer, Bytes> values = new HashMap<>();
        for (PageLayout.Field field : layout.get().fields()) {
            if (!field.reserved()) {
                values.put(field.number(), page.get().get(scope, field.number()));
            }
        }
        return layout.get().encode(values);
    }

    /** The identifiers of the collections (OSD-2). */
    private static AttributesPage collections(AttributeScope scope) throws StorageException {
        var collections = scope.objects().collectionsOf(scope.id());
        byte[] ids = new byte[Long.BYTES * collections.size()];
        for (int i = 0; i < collections.size(); i++) {
            System.arraycopy(Values.int64(collections.get(i)).toArray(), 0, ids, Long.BYTES * i,
                    Long.BYTES);
        }
        return new AttributesPage(Membership.PAGE, Bytes.of(ids));
    }

    /** Whether an entry asks for attributes of the current command. */
    public static boolean isOfCurrentCommand(int page) {
        return PageKind.of(page) == PageKind.CURRENT_COMMAND;
    }
}
