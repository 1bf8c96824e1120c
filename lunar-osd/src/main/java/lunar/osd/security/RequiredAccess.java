package lunar.osd.security;

import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.ObjectType;
import lunar.osd.wire.ServiceAction;
import lunar.osd.wire.attribute.AttributeId;
import lunar.osd.wire.command.KeyLevel;
import lunar.osd.wire.command.OsdCdb;
import lunar.osd.wire.command.QueryCommand;
import lunar.osd.wire.command.RemoveCommand;
import lunar.osd.wire.command.SetKeyCommand;
import lunar.osd.wire.page.PageKind;
import lunar.osd.wire.page.StandardPage;
import lunar.osd.wire.security.Permission;

/**
 * Access that a capability has to allow for a command: a type of object and permissions. Attributes beside the command
 * need further ones, see {@link #and}.
 *
 * <pre>
 * READ, READ MAP                              user object   READ
 * WRITE, CLEAR, PUNCH                         user object   WRITE
 * APPEND                                      user object   APPEND
 * CREATE                                      user object   CREATE
 * CREATE AND WRITE                            user object   CREATE, WRITE
 * REMOVE                                      user object   REMOVE
 * FLUSH                                       user object   OBJ_MGMT
 * CREATE COLLECTION                           collection    CREATE
 * CREATE USER TRACKING COLLECTION             collection    CREATE, M_OBJECT
 * REMOVE COLLECTION                           collection    REMOVE
 * LIST COLLECTION                             collection    READ (partition, if it lists the collections of one)
 * FLUSH COLLECTION                            collection    OBJ_MGMT (partition, likewise)
 * QUERY                                       collection    QUERY; M_OBJECT if it fills a collection
 * GET MEMBER ATTRIBUTES                       collection    M_OBJECT, GET_ATTR
 * SET MEMBER ATTRIBUTES                       collection    M_OBJECT, SET_ATTR
 * REMOVE MEMBER OBJECTS                       collection    M_OBJECT, REMOVE
 * CREATE PARTITION                            partition     CREATE
 * REMOVE PARTITION                            partition     REMOVE; GBL_REM if with its contents
 * LIST                                        partition     READ (root, if it lists the partitions)
 * FLUSH PARTITION                             partition     OBJ_MGMT
 * OBJECT STRUCTURE CHECK                      partition     OBJ_MGMT (root, for the whole device)
 * SET KEY                                     partition     POL/SEC; DEV_MGMT if not a working key (root: root key)
 * FORMAT OSD                                  root          OBJ_MGMT, GLOBAL
 * FLUSH OSD                                   root          OBJ_MGMT
 * SET MASTER KEY                              root          DEV_MGMT, POL/SEC
 * PERFORM SCSI COMMAND, TASK MANAGEMENT       root          DEV_MGMT
 * GET ATTRIBUTES                              any           GET_ATTR
 * SET ATTRIBUTES                              any           SET_ATTR
 * </pre>
 *
 * <p>The names of the permissions are the standard's; which commands need which is read out of their definitions, and
 * no peer of another origin has confirmed it.
 *
 * @param type type of the object; that of the object in the store for commands that apply to any type, which say user
 *        object here
 * @param permissions all of which are needed
 */
public record RequiredAccess(ObjectType type, Set<Permission> permissions) {
    /** Number of the policy/security page of each type of object, from its first page. */
    private static final int POLICY_PAGE = 5;

    /** Makes the set unmodifiable. */
    public RequiredAccess {
        var copy = EnumSet.noneOf(Permission.class);
        copy.addAll(permissions);
        permissions = Collections.unmodifiableSet(copy);
    }

    private static RequiredAccess user(Permission... permissions) {
        return new RequiredAccess(ObjectType.USER_OBJECT, Set.of(permissions));
    }

    private static RequiredAccess collection(Permission... permissions) {
        return new RequiredAccess(ObjectType.COLLECTION, Set.of(permissions));
    }

    private static RequiredAccess root(Permission... permissions) {
        return new RequiredAccess(ObjectType.ROOT, Set.of(permissions));
    }

    /** The root for Partition_ID zero, else the partition. */
    private static RequiredAccess partition(ObjectId id, Permission... permissions) {
        return new RequiredAccess(
                id.partition() == 0 ? ObjectType.ROOT : ObjectType.PARTITION, Set.of(permissions));
    }

    /** The partition, where a command for a collection has no identifier of one. */
    private static RequiredAccess within(ObjectId id, Permission... permissions) {
        return id.object() == 0 ? partition(id, permissions) : collection(permissions);
    }

    /** Whether a command applies to objects of any type, which only the store knows. */
    public static boolean isForAnyType(OsdCdb command) {
        return (command.action() == ServiceAction.GET_ATTRIBUTES
                || command.action() == ServiceAction.SET_ATTRIBUTES)
                && command.object().object() != 0;
    }

    /** Returns what a command itself needs. */
    public static RequiredAccess of(OsdCdb command) {
        ObjectId id = command.object();
        return switch (command.action()) {
            case READ, READ_MAP -> user(Permission.READ);
            case WRITE, CLEAR, PUNCH -> user(Permission.WRITE);
            case APPEND -> user(Permission.APPEND);
            case CREATE -> user(Permission.CREATE);
            case CREATE_AND_WRITE -> user(Permission.CREATE, Permission.WRITE);
            case REMOVE -> user(Permission.REMOVE);
            case FLUSH -> user(Permission.OBJECT_MANAGEMENT);
            case CREATE_COLLECTION -> collection(Permission.CREATE);
            case CREATE_USER_TRACKING_COLLECTION ->
                collection(Permission.CREATE, Permission.MULTI_OBJECT);
            case REMOVE_COLLECTION -> collection(Permission.REMOVE);
            case LIST_COLLECTION -> within(id, Permission.READ);
            case FLUSH_COLLECTION -> within(id, Permission.OBJECT_MANAGEMENT);
            case QUERY -> command instanceof QueryCommand query && query.matches() != 0
                    ? collection(Permission.QUERY, Permission.MULTI_OBJECT)
                    : collection(Permission.QUERY);
            case GET_MEMBER_ATTRIBUTES ->
                collection(Permission.MULTI_OBJECT, Permission.GET_ATTRIBUTES);
            case SET_MEMBER_ATTRIBUTES ->
                collection(Permission.MULTI_OBJECT, Permission.SET_ATTRIBUTES);
            case REMOVE_MEMBER_OBJECTS -> collection(Permission.MULTI_OBJECT, Permission.REMOVE);
            case CREATE_PARTITION ->
                new RequiredAccess(ObjectType.PARTITION, Set.of(Permission.CREATE));
            case REMOVE_PARTITION -> new RequiredAccess(ObjectType.PARTITION,
                    command instanceof RemoveCommand remove && remove.force()
                            ? Set.of(Permission.REMOVE, Permission.GLOBAL_REMOVE)
                            : Set.of(Permission.REMOVE));
            case LIST -> partition(id, Permission.READ);
            case FLUSH_PARTITION, OBJECT_STRUCTURE_CHECK ->
                partition(id, Permission.OBJECT_MANAGEMENT);
            case SET_KEY -> setKey(command);
            case FORMAT_OSD -> root(Permission.OBJECT_MANAGEMENT, Permission.GLOBAL);
            case FLUSH_OSD -> root(Permission.OBJECT_MANAGEMENT);
            case SET_MASTER_KEY ->
                root(Permission.DEVICE_MANAGEMENT, Permission.POLICY_SECURITY);
            case PERFORM_SCSI_COMMAND, PERFORM_TASK_MANAGEMENT_FUNCTION ->
                root(Permission.DEVICE_MANAGEMENT);
            case GET_ATTRIBUTES -> id.object() == 0
                    ? partition(id, Permission.GET_ATTRIBUTES)
                    : user(Permission.GET_ATTRIBUTES);
            case SET_ATTRIBUTES -> id.object() == 0
                    ? partition(id, Permission.SET_ATTRIBUTES)
                    : user(Permission.SET_ATTRIBUTES);
            case COPY_USER_OBJECTS, CREATE_CLONE, CREATE_SNAPSHOT, DETACH_CLONE,
                    REFRESH_SNAPSHOT_OR_CLONE, RESTORE_PARTITION_FROM_SNAPSHOT,
                    READ_MAPS_AND_COMPARE ->
                throw new IllegalArgumentException(command.action() + " has no layout");
        };
    }

    private static RequiredAccess setKey(OsdCdb command) {
        boolean working = command instanceof SetKeyCommand set && set.level() == KeyLevel.WORKING;
        return working
                ? partition(command.object(), Permission.POLICY_SECURITY)
                : partition(command.object(), Permission.POLICY_SECURITY,
                        Permission.DEVICE_MANAGEMENT);
    }

    /**
     * Returns what a command needs together with attributes: those of the current command need nothing, and setting
     * those of a policy/security page needs more than others.
     *
     * @param gets attributes that it gets
     * @param sets attributes that it sets
     */
    public RequiredAccess and(List<AttributeId> gets, List<AttributeId> sets) {
        var all = EnumSet.noneOf(Permission.class);
        all.addAll(permissions);
        if (gets.stream().anyMatch(id -> PageKind.of(id.page()) != PageKind.CURRENT_COMMAND)) {
            all.add(Permission.GET_ATTRIBUTES);
        }
        if (!sets.isEmpty()) {
            all.add(Permission.SET_ATTRIBUTES);
        }
        if (sets.stream().anyMatch(id -> isPolicyPage(id.page()))) {
            all.add(Permission.POLICY_SECURITY);
        }
        return new RequiredAccess(type, all);
    }

    /** Whether a page has attributes that decide which commands are admitted: tags, frozen keys, methods, lists. */
    public static boolean isPolicyPage(int page) {
        return PageKind.objectType(page)
                .filter(type -> page == PageKind.firstPage(type) + POLICY_PAGE).isPresent()
                || page == StandardPage.PARTITION_ATTRIBUTES_ACCESS.number();
    }
}
