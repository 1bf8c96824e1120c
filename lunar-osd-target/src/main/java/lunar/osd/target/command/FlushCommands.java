package lunar.osd.target.command;

import lunar.block.StorageException;
import lunar.osd.target.attribute.RefusedException;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.ObjectType;
import lunar.osd.wire.ServiceAction;
import lunar.osd.wire.command.FlushCommand;

/**
 * FLUSH, FLUSH COLLECTION, FLUSH PARTITION and FLUSH OSD. What they flush is at least their scope: a user object, or
 * everything.
 */
final class FlushCommands {
    private FlushCommands() {}

    static void execute(CommandRun run, FlushCommand command)
            throws StorageException, RefusedException {
        run.begin();
        ObjectId object = command.object();
        switch (command.action()) {
            case FLUSH -> run.querying(objects -> {
                var _ = Existing.of(objects, object, ObjectType.USER_OBJECT);
            });
            case FLUSH_COLLECTION -> run.querying(objects -> {
                var _ = object.object() == 0
                        ? Existing.partition(objects, object.partition())
                        : Existing.of(objects, object, ObjectType.COLLECTION);
            });
            case FLUSH_PARTITION -> run.querying(objects -> {
                var _ = Existing.any(objects, object);
            });
            default -> {
            }
        }
        flush(run, command);
        run.attributes(object);
        if (!run.requests().sets().isEmpty()) {
            flush(run, command); // the attributes that it has set
        }
    }

    private static void flush(CommandRun run, FlushCommand command) throws StorageException {
        if (command.action() == ServiceAction.FLUSH) {
            run.store().flush(command.object());
        } else {
            run.store().flush();
        }
    }
}
