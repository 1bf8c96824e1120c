package lunar.osd.target.attribute;

import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import lunar.osd.wire.ObjectType;
import lunar.osd.wire.page.PageKind;
import lunar.osd.wire.page.StandardPage;

/** The providers of the device's own pages, and which pages an object may have besides. */
final class StandardPages {
    private static final Map<Integer, PageProvider> PROVIDERS = new TreeMap<>(
            Comparator.comparingLong(Integer::toUnsignedLong));

    static {
        for (ObjectType type : ObjectType.values()) {
            PROVIDERS.put(PageKind.firstPage(type), new DirectoryPage(type));
        }
        table(StandardPage.ROOT_INFORMATION, InformationPages.ofRoot());
        table(StandardPage.PARTITION_INFORMATION, InformationPages.ofPartition());
        table(StandardPage.COLLECTION_INFORMATION, InformationPages.ofCollection());
        table(StandardPage.USER_OBJECT_INFORMATION, InformationPages.ofUserObject());
        table(StandardPage.ROOT_QUOTAS, QuotaPages.of(ObjectType.ROOT));
        table(StandardPage.PARTITION_QUOTAS, QuotaPages.of(ObjectType.PARTITION));
        table(StandardPage.USER_OBJECT_QUOTAS, QuotaPages.of(ObjectType.USER_OBJECT));
        table(StandardPage.ROOT_TIMESTAMPS, TimestampPages.ofRoot());
        table(StandardPage.PARTITION_TIMESTAMPS, TimestampPages.ofPartition());
        table(StandardPage.COLLECTION_TIMESTAMPS,
                TimestampPages.times(StandardPage.COLLECTION_TIMESTAMPS));
        table(StandardPage.USER_OBJECT_TIMESTAMPS,
                TimestampPages.times(StandardPage.USER_OBJECT_TIMESTAMPS));
        table(StandardPage.COLLECTION_COMMAND_TRACKING, TrackingPage.values());
        table(StandardPage.ROOT_POLICY_SECURITY, SecurityPages.ofRoot());
        table(StandardPage.PARTITION_POLICY_SECURITY, SecurityPages.ofPartition());
        table(StandardPage.COLLECTION_POLICY_SECURITY, SecurityPages.ofCollection());
        table(StandardPage.USER_OBJECT_POLICY_SECURITY, SecurityPages.ofUserObject());
        table(StandardPage.ROOT_ERROR_RECOVERY, ErrorRecoveryPages.ofRoot());
        table(StandardPage.PARTITION_ERROR_RECOVERY, ErrorRecoveryPages.ofPartition());
        table(StandardPage.COLLECTION_ERROR_RECOVERY, ErrorRecoveryPages.ofCollection());
        table(StandardPage.USER_OBJECT_ERROR_RECOVERY, ErrorRecoveryPages.ofUserObject());
        table(StandardPage.CURRENT_COMMAND, CurrentCommandPage.values());
        PROVIDERS.put(StandardPage.USER_OBJECT_COLLECTIONS.number(), new CollectionsPage());
        PROVIDERS.put(StandardPage.PARTITION_ATTRIBUTES_ACCESS.number(),
                new StoredPage(StandardPage.PARTITION_ATTRIBUTES_ACCESS.number()));
        PROVIDERS.put(SecretPage.OF_ROOT, new SecretPage());
        PROVIDERS.put(SecretPage.OF_PARTITION, new SecretPage());
        PROVIDERS.put(Quota.FORMATTED_CAPACITY.page(),
                new TablePage(Quota.FORMATTED_CAPACITY.page(), InformationPages.ofFormat()));
    }

    private StandardPages() {}

    private static void table(StandardPage page, List<StandardValue> values) {
        PROVIDERS.put(page.number(), new TablePage(page.number(), values));
    }

    /** Whether a page is one of the device's own. */
    static boolean isOwn(int page) {
        return PROVIDERS.containsKey(page);
    }

    /** Returns the device's own pages of a type of object, in their order; without that of the current command. */
    static List<PageProvider> of(ObjectType type) {
        return PROVIDERS.entrySet().stream().filter(
                page -> PageKind.objectType(page.getKey()).filter(type::equals).isPresent())
                .map(Map.Entry::getValue).toList();
    }

    /** Returns the provider of a page; empty if objects of this type do not have it. */
    static Optional<PageProvider> of(int page, ObjectType type) {
        PageKind kind = PageKind.of(page);
        boolean foreign = kind != PageKind.ANY_OBJECT && kind != PageKind.CURRENT_COMMAND
                && PageKind.objectType(page).filter(type::equals).isEmpty();
        if (foreign) {
            return Optional.empty();
        }
        PageProvider own = PROVIDERS.get(page);
        if (own != null) {
            return Optional.of(own);
        }
        return switch (kind) {
            case APPLICATION, VENDOR, OTHER_STANDARD, ANY_OBJECT ->
                Optional.of(new StoredPage(page));
            case STANDARD, MANUFACTURER, CURRENT_COMMAND, ALL, RESERVED -> Optional.empty();
        };
    }
}
