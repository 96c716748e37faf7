print("mediabridge")
