package lunar.osd.target.command;

import java.util.List;
import lunar.block.StorageException;
import lunar.osd.target.attribute.RefusedException;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.command.KeyLevel;
import lunar.osd.wire.command.SetKeyCommand;

/** SET KEY. The key is on stable storage when the command ends. */
final class KeyCommands {
    private KeyCommands() {}

    static void execute(CommandRun run, SetKeyCommand command)
            throws StorageException, RefusedException {
        boolean ofRoot = command.level() == KeyLevel.ROOT;
        if (ofRoot != (command.partition() == 0)) {
            throw RefusedException.field(CdbFieldAt.PARTITION);
        }
        ObjectId object = command.object();
        run.change(objects -> {
            var _ = Existing.any(objects, object);
            run.device().security().setKey(objects, command);
            return List.of(object);
        });
        run.store().flush();
    }
}
