rootProject.name = "storage"
