"""Publishing a namespace folder to the Hub."""
