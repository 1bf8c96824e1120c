package lunar.osd.target.command;

import java.util.List;
import lunar.block.StorageException;
import lunar.osd.store.ObjectWriter;
import lunar.osd.target.attribute.Membership;
import lunar.osd.target.attribute.RefusedException;
import lunar.osd.target.attribute.Values;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.ObjectType;
import lunar.osd.wire.ServiceAction;
import lunar.osd.wire.command.CreateCollectionCommand;
import lunar.osd.wire.page.CollectionAttribute;

/** CREATE COLLECTION and CREATE USER TRACKING COLLECTION. */
final class CollectionCommands {
    private static final int TRACKING = 0x01;

    private CollectionCommands() {}

    static void create(CommandRun run, CreateCollectionCommand command)
            throws StorageException, RefusedException {
        run.phases().check(ObjectType.COLLECTION, false);
        run.change(objects -> {
            ObjectId requested = command.object();
            var id = new ObjectId(requested.partition(),
                    ObjectCommands.admit(run, objects, requested, 1));
            objects.create(id, ObjectType.COLLECTION, run.nowMs());
            run.current().object(ObjectType.COLLECTION, id);
            if (command.action() == ServiceAction.CREATE_USER_TRACKING_COLLECTION) {
                track(run, objects, command, id);
            }
            return List.of(id);
        });
        ObjectCommands.created(run, ObjectId.ofPartition(command.object().partition()));
    }

    /** Makes a tracking collection of the members of another one. */
    private static void track(CommandRun run, ObjectWriter objects,
            CreateCollectionCommand command, ObjectId tracking)
            throws StorageException, RefusedException {
        var source = new ObjectId(tracking.partition(), command.source());
        boolean isCollection = command.source() != 0 && objects.find(source)
                .filter(found -> found.type() == ObjectType.COLLECTION).isPresent();
        if (!isCollection) {
            throw RefusedException.field(CdbFieldAt.start(command));
        }
        OsdLimits.checkAdded(objects.memberCount(source));
        objects.setAttribute(tracking, CollectionAttribute.COLLECTION_TYPE.id(),
                Values.number(TRACKING, 1));
        var members = new Members(objects, source, run::isAborted);
        for (List<Long> ids = members.next(); !ids.isEmpty(); ids = members.next()) {
            for (long id : ids) {
                Membership.add(objects, new ObjectId(tracking.partition(), id),
                        tracking.object());
            }
        }
    }
}
