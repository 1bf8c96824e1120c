/** Read-only access to file systems on a block device: ext2, ext3, ext4 and FAT, behind MBR and GPT partitions. */
module lunar.fs {
    requires transitive lunar.block;
    requires static org.jspecify;

    exports lunar.fs;
}
